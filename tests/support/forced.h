// An algorithm that is forced while a test runs.
#pragma once
#include <cstdlib>
#include <string>

namespace mica::support {

// While it stands, machines that are made force this algorithm, whatever was forced before; "": none.
class Forced {
 public:
  explicit Forced(const char* name) {
    if (const char* before = getenv(kName)) before_ = before;
    setenv(kName, name, 1);
  }
  ~Forced() { before_.empty() ? unsetenv(kName) : setenv(kName, before_.c_str(), 1); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  static constexpr const char* kName = "MICA_FORCE";
  std::string before_;
};

}  // namespace mica::support
