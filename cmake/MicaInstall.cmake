# Filled when the interfaces stand: headers, libraries, find_package and pkg-config.
