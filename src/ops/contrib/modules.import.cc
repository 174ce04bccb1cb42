// Operators of the modules, where these are not in the build: what a module brings comes before these rows.
#include <string>

#include "ir/spelling.h"

namespace mica {
namespace {

[[noreturn]] void missing(const std::string& module, const std::string& needs) {
  throw Failure(error(Code::kUnsupportedOperator, "the module `{}`, which has it, is not in this build", module)
                    .hinting("configure with -DMICA_BUILD_MODULES=ON where " + needs +
                             " is installed: ./setup --modules does both"));
}
Values pictures(const SourceNode&, Builder&) {
  missing("pictures", "libjpeg-turbo, libpng, libwebp, libtiff and openjpeg");
}
Values texts(const SourceNode&, Builder&) { missing("texts", "RE2"); }

}  // namespace

MICA_SPELLINGS(modules, {Format::kOnnx, "", "ImageDecoder", 20, kLatest, pictures},
               {Format::kOnnx, "", "RegexFullMatch", 20, kLatest, texts},
               {Format::kOnnx, "com.microsoft", "Tokenizer", 1, kLatest, texts});

}  // namespace mica
