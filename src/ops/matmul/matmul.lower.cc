#include "ir/product_epilogue.h"

namespace mica {

MICA_LOWER(matmul) = {.absorbs = absorbed_by_product};

}  // namespace mica
