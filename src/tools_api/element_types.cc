#include "tools_api/element_types.h"

#include <algorithm>
#include <memory>
#include <span>

#include "types/attr_fields.h"

namespace mica::tools {
namespace {

constexpr int kMostInputs = 8;
// What stands beside the type in question: itself first, then what indices, conditions, scales and texts are made of.
constexpr DType kBeside[] = {DType::kI64, DType::kF32, DType::kBool,  DType::kI32,
                             DType::kU8,  DType::kI8,  DType::kString};

// Attributes that stand for a type of the operands, and counts and sizes where the default is none.
class Guess final : public EachField<Guess> {
 public:
  Guess(DType dtype, int64_t choice) : dtype_(dtype), choice_(choice) {}
  template <class T>
  void each(std::string_view, T& value, std::string_view) {
    if constexpr (std::is_same_v<T, DType>) value = dtype_;
    if constexpr (std::is_same_v<T, int64_t>) value = std::max<int64_t>(value, 1);
    if constexpr (std::is_same_v<T, Ints>) value = {1, 1};
  }
  void choice(std::string_view, int64_t& index, std::span<const std::string_view> names, std::string_view) override {
    choices_ = std::max(choices_, static_cast<int64_t>(names.size()));
    if (choice_ > 0 && choice_ < choices_) index = choice_;
  }
  int64_t choices() const { return choices_; }

 private:
  DType dtype_;
  int64_t choice_, choices_ = 1;
};

class Probe final : public InferScope {
 public:
  explicit Probe(const OpDef& op) : op_(op) {
    attributes_ = std::make_unique<Blob>();
    attributes_blob = attributes_->bytes;
    definition = &op;
    reset();
  }

  // Attributes have their defaults from now on, or what suits a type.
  void reset() {
    if (op_.attributes.init) op_.attributes.init(attributes_->bytes);
  }
  // The number `choice` of what attributes choose from, where it is not 0; false when there are not so many.
  bool guess(DType dtype, int64_t choice) {
    Guess visitor(dtype, choice);
    if (op_.attributes.visit) op_.attributes.visit(attributes_->bytes, visitor);
    return choice < visitor.choices();
  }

  bool accepts(std::span<const Type> types) {
    DimTable dims;
    table = &dims;
    blocks_.clear();
    std::vector<InferValue> in(types.size()), out(static_cast<size_t>(std::max(op_.outputs.min, 1)));
    for (size_t i = 0; i < types.size(); ++i) {
      in[i].present = types[i].dtype != DType::kNone;
      in[i].type = types[i];
    }
    for (InferValue& value : out) value.present = true;
    inputs = in;
    outputs = out;
    return op_.infer(*this).ok();
  }

  Status infer_region(int, std::span<const InferValue>, std::span<InferValue>) override {
    return error(Code::kUsage, "there is no region");
  }
  int regions() const override { return 0; }
  void* allocate(size_t bytes) override { return blocks_.emplace_back(std::make_unique<std::byte[]>(bytes + 1)).get(); }

 private:
  struct Blob {
    alignas(16) std::byte bytes[kMaxAttrBytes];
  };
  const OpDef& op_;
  std::unique_ptr<Blob> attributes_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

// Ranks of all operands; -1: unknown. Some inference asks for one before it looks at types.
constexpr int kRanks[] = {-1, 4, 3, 2, 1, 0};

Type of_kind(Kind kind, DType dtype, int rank = -1) {
  Type type = Type::tensor(dtype, Shape());
  if (rank >= 0) type.shape = Shape::of_rank(0);
  for (int i = 0; i < rank; ++i) type.shape.push(2);
  type.kind = kind;
  return type;
}

// The types of an operator's needed operands, that of one being given.
class Trial {
 public:
  Trial(Probe& probe, std::vector<Type> types, size_t place, size_t needed)
      : probe_(probe), types_(std::move(types)), own_(types_[place]) {
    for (size_t i = 0; i < needed; ++i)
      if (i != place) others_.push_back(i);
    reset();
  }

  // Whether inference accepts the given type beside others of the same type, some set of which has another type in
  // common, or two of which have two other types.
  bool fits() { return some_of_one_type() || two_of_two_types(); }

 private:
  void reset() {
    for (const size_t i : others_) types_[i] = own_;
  }
  bool some_of_one_type() {
    if (probe_.accepts(types_)) return true;
    std::vector<DType> beside(1, own_.dtype);  // of a sequence, its items
    beside.insert(beside.end(), std::begin(kBeside), std::end(kBeside));
    for (const DType dtype : beside) {
      for (size_t set = (size_t{1} << others_.size()) - 1; set; --set) {
        reset();
        for (size_t i = 0; i < others_.size(); ++i)
          if (set >> i & 1) types_[others_[i]] = of_kind(Kind::kTensor, dtype);
        if (probe_.accepts(types_)) return true;
      }
    }
    return false;
  }
  bool two_of_two_types() {
    reset();
    for (const size_t a : others_) {
      for (const size_t b : others_) {
        for (const DType first : kBeside) {
          for (const DType second : kBeside) {
            if (a >= b || first == second) continue;
            types_[a] = of_kind(Kind::kTensor, first);
            types_[b] = of_kind(Kind::kTensor, second);
            if (probe_.accepts(types_)) return true;
          }
        }
        types_[a] = types_[b] = own_;
      }
    }
    return false;
  }

  Probe& probe_;
  std::vector<Type> types_;
  std::vector<size_t> others_;
  Type own_;
};

// With operands up to `needed`.
std::vector<DType> accepted_at(Probe& probe, size_t place, size_t needed) {
  std::vector<DType> accepted;
  for (const Kind kind : {Kind::kTensor, Kind::kSequence, Kind::kOptional}) {
    for (const int rank : kRanks) {
      for (int code = 1; code < kDTypeCount; ++code) {
        std::vector<Type> types(std::max(place + 1, needed));
        types[place] = of_kind(kind, static_cast<DType>(code), rank);
        probe.reset();
        bool fits = Trial(probe, types, place, needed).fits();
        for (int64_t choice = 0; !fits && choice <= (needed == 1 ? 16 : 0); ++choice)
          if (probe.guess(static_cast<DType>(code), choice)) fits = Trial(probe, types, place, needed).fits();
        if (fits) accepted.push_back(static_cast<DType>(code));
      }
      if (!accepted.empty()) return accepted;
    }
  }
  return accepted;
}

}  // namespace

std::vector<std::vector<DType>> element_types(const OpDef& op) {
  std::vector<std::vector<DType>> list;
  if (op.regions) return list;
  Probe probe(op);
  const int most = op.inputs.max == kAnyNumber ? std::max(op.inputs.min, 1) : op.inputs.max;
  for (int input = 0; input < std::min(most, kMostInputs); ++input) {
    auto& accepted = list.emplace_back();
    // One of several operands that may be left out is often needed.
    for (int needed = op.inputs.min; needed <= std::min(most, op.inputs.min + 2) && accepted.empty(); ++needed)
      accepted = accepted_at(probe, static_cast<size_t>(input), static_cast<size_t>(needed));
  }
  return list;
}

}  // namespace mica::tools
