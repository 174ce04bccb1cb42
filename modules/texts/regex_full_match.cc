// ONNX's RegexFullMatch: whether a whole text matches a pattern, by RE2, whose time grows with the text's length alone.
#include <re2/re2.h>

#include "modules/texts/texts.h"

namespace mica_texts {
namespace {

int infer(void*, mica_op_call* call, char* message, size_t message_size) {
  const mica_tensor& x = call->inputs[0];
  if (x.dtype != MICA_STRING) return refuse(message, message_size, "the input must be a tensor of strings");
  mica_tensor& y = call->outputs[0];
  y.dtype = MICA_BOOL;
  y.rank = x.rank;
  for (int i = 0; i < x.rank; ++i) y.dims[i] = x.dims[i];
  return 0;
}

int compute(void*, mica_op_call* call, char* message, size_t message_size) {
  const mica_attribute* pattern = mica_op_attribute(call, "pattern");
  if (!pattern || !pattern->text) return refuse(message, message_size, "the attribute `pattern` is missing");
  RE2::Options options(RE2::Quiet);
  const RE2 expression(re2::StringPiece(pattern->text, pattern->count), options);
  if (!expression.ok()) return refuse(message, message_size, expression.error().c_str());
  const mica_tensor& x = call->inputs[0];
  const auto* texts = static_cast<const mica_string*>(x.data);
  auto* y = static_cast<unsigned char*>(call->outputs[0].data);
  for (int64_t i = 0, count = element_count(x); i < count; ++i) {
    const re2::StringPiece text(texts[i].data, static_cast<size_t>(texts[i].size));
    y[i] = RE2::FullMatch(text, expression);
  }
  return 0;
}

}  // namespace

const mica_operator regex_full_match = operator_of("", "RegexFullMatch", infer, compute);

}  // namespace mica_texts
