#include "ir/product_epilogue.h"

namespace mica {

MICA_LOWER(gemm) = {.absorbs = absorbed_by_product};

}  // namespace mica
