#include "ir/spelling.h"
#include "ops/rnn/recurrent.h"

namespace mica {
MICA_DECLARE_OP(lstm);
MICA_DECLARE_OP(gru);
MICA_DECLARE_OP(rnn);

namespace {

// ONNX lists parameters only for the functions that have them, in their order.
void read_activations(const SourceNode& node, Recurrent& a) {
  std::string joined;
  const auto names = node.texts("activations");
  const auto alphas = node.floats("activation_alpha"), betas = node.floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  for (std::string name : names) {
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    joined += (joined.empty() ? "" : ",") + name;
    rnn::FunctionInfo info{};
    for (const rnn::FunctionInfo& known : rnn::kFunctions)
      if (known.name == name) info = known;
    const bool has_alpha = info.parameters > 0 && next_alpha < alphas.size();
    const bool has_beta = info.parameters > 1 && next_beta < betas.size();
    const bool fits = a.alpha.push(has_alpha ? alphas[next_alpha++] : info.alpha) &&
                      a.beta.push(has_beta ? betas[next_beta++] : info.beta);
    if (!fits) fail(Code::kLimit, "{} activations", names.size());
  }
  if (!a.activations.assign(joined)) fail(Code::kLimit, "`activations` is too long");
}

template <class A, const OpDef& op>
Values import_recurrent(const SourceNode& node, Builder& build) {
  A a;
  a.batch_first = node.integer("layout", 0) != 0;
  read_activations(node, a);
  SourceNode plain = node;  // the rest has the source's names
  plain.attributes.erase("activations");
  read_attributes_by_name(plain, attr_class<A>(), &a);
  for (const std::string& key : plain.read) node.ignore(key);
  node.ignore("output_sequence");  // before version 7: whether the first output is wanted, which its name tells as well
  if (const int64_t hidden = node.integer("hidden_size", 0); hidden) {
    const Shape& r = node.input(rnn::kR)->type.shape;
    if (r.known() && r.rank == 3 && r[2].is_fixed() && !r[2].is(hidden))
      fail(Code::kBadAttribute, "`hidden_size` is {}, the weights are for {}", hidden, r[2].value());
  }
  Values made = build.add(op, a, node.inputs, std::max(node.outputs(), 1));
  Node& added = *made[0]->producer;
  for (size_t i = 0; i < made.size(); ++i)
    if (!node.wants(i)) added.outputs[i] = nullptr;
  return made;
}

}  // namespace

MICA_SPELLINGS(rnn, {Format::kOnnx, "", "LSTM", 1, kLatest, import_recurrent<Lstm, op_lstm>},
               {Format::kOnnx, "", "GRU", 1, kLatest, import_recurrent<Gru, op_gru>},
               {Format::kOnnx, "", "RNN", 1, kLatest, import_recurrent<Recurrent, op_rnn>});

}  // namespace mica
