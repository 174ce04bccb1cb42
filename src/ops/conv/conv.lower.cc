#include "ir/product_epilogue.h"

namespace mica {

MICA_LOWER(conv) = {.absorbs = absorbed_by_product};

}  // namespace mica
