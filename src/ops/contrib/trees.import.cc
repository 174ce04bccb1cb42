// Tree ensembles of ai.onnx.ml: their lists of attributes as the tables of one operator.
#include <map>
#include <set>

#include "ops/contrib/scores.import.h"
#include "ops/ml/tree_ensemble.h"

namespace mica {
MICA_DECLARE_OP(tree_ensemble);

namespace {

using expand::PostTransform, expand::best_label, expand::cast, expand::label_above, expand::labels_of, expand::list,
    expand::post_transform, expand::rank_of, expand::slice, expand::transformed, expand::two_columns, expand::unsqueeze;
using trees::kColumns;
using trees::kLeaf;

// Nodes as a source has them, in any order; a leaf's weights are those from `on_true` to before `on_false`.
struct SourceTree {
  int64_t mode = kLeaf, feature = 0, on_true = 0, on_false = 0, missing = 0, members = 0, members_end = 0;
  double threshold = 0;
};
struct Forest {
  std::vector<SourceTree> nodes;
  std::vector<int64_t> roots, targets;
  std::vector<double> weights, members;
  int64_t target_count = 1;
  DType dtype = DType::kF32;  // of thresholds and weights
  TreeAggregate aggregate = TreeAggregate::kSum;
};

// The numbers of an attribute that is a list of floats or, in later versions, a tensor.
std::vector<double> numbers_of(const SourceNode& node, const std::string& name, DType& dtype) {
  std::vector<double> numbers;
  const SourceAttribute* plain = node.find(name);
  if (plain && plain->kind != SourceAttribute::Kind::kTensor)
    for (const float f : node.floats(name)) numbers.push_back(static_cast<double>(f));
  for (const std::string& key : {name + "_as_tensor", name}) {
    const SourceAttribute* found = node.find(key);
    if (!found || found->kind != SourceAttribute::Kind::kTensor) continue;
    const ConstantPtr tensor = node.tensor(key);
    const Elements elements(tensor->view);
    numbers.clear();
    for (int64_t i = 0; i < tensor->view.count(); ++i) numbers.push_back(elements.number(i));
    if (tensor->view.dtype == DType::kF64) dtype = DType::kF64;
  }
  return numbers;
}

void require_size(size_t found, size_t wanted, std::string_view what) {
  if (found != wanted) fail(Code::kBadAttribute, "{} has {} items, expected {}", what, found, wanted);
}

// Rows of the table, each before its children.
class Table {
 public:
  explicit Table(const Forest& forest) : forest_(forest), used_(forest.nodes.size()) {
    for (const int64_t root : forest.roots) {
      roots.push_back(static_cast<int64_t>(thresholds.size()));
      open_.push_back({root, -1});
      while (!open_.empty()) add();
    }
  }
  std::vector<int64_t> rows, roots;
  std::vector<double> thresholds;

 private:
  struct Open {
    int64_t node, slot;  // where in `rows` its place is noted
  };
  void add() {
    const auto [index, slot] = open_.back();
    open_.pop_back();
    if (index < 0 || index >= static_cast<int64_t>(forest_.nodes.size()))
      fail(Code::kBadAttribute, "a tree leads to node {} of {}", index, forest_.nodes.size());
    const SourceTree& n = forest_.nodes[static_cast<size_t>(index)];
    const bool leaf = n.mode == kLeaf;
    if (!leaf && used_[static_cast<size_t>(index)])
      fail(Code::kBadAttribute, "node {} of the trees is reached twice", index);
    used_[static_cast<size_t>(index)] = true;
    if (slot >= 0) rows[static_cast<size_t>(slot)] = static_cast<int64_t>(thresholds.size());
    const auto at = static_cast<int64_t>(rows.size());
    rows.insert(rows.end(), {n.mode, n.feature, n.on_true, n.on_false, n.missing, n.members, n.members_end});
    thresholds.push_back(n.threshold);
    if (leaf) return;
    open_.push_back({n.on_false, at + trees::kFalse});
    open_.push_back({n.on_true, at + trees::kTrue});
  }

  const Forest& forest_;
  std::vector<bool> used_;
  std::vector<Open> open_;
};

Value* numbers(Builder& build, const std::vector<double>& list, DType dtype) {
  const auto count = static_cast<int64_t>(list.size());
  if (dtype == DType::kF64) return build.constant(dtype, std::span(&count, 1), list.data());
  const std::vector<float> narrow(list.begin(), list.end());
  return build.floats(narrow);
}

// The scores and, where asked for, which of them any tree gave anything.
Values scores_of(Builder& build, const Forest& forest, Value* x, bool seen = false) {
  const Table table(forest);
  const int64_t dims[] = {static_cast<int64_t>(table.thresholds.size()), kColumns};
  if (x->type.dtype == DType::kF16 || x->type.dtype == DType::kBf16) x = cast(build, x, DType::kF32);
  if (rank_of(x, "the features") == 1) x = unsqueeze(build, x, {0});
  Values inputs{x,
                build.constant(DType::kI64, dims, table.rows.data()),
                numbers(build, table.thresholds, forest.dtype),
                build.ints(table.roots),
                build.ints(forest.targets),
                numbers(build, forest.weights, forest.dtype),
                forest.members.empty() ? nullptr : numbers(build, forest.members, forest.dtype)};
  const TreeEnsemble a{.targets = forest.target_count, .aggregate = forest.aggregate};
  return build.add(op_tree_ensemble, a, std::move(inputs), seen ? 2 : 1);
}

int64_t mode_of(const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<int64_t>(i);
  fail(Code::kBadAttribute, "`nodes_modes` has `{}`", name);
}

using TreeNode = std::pair<int64_t, int64_t>;

// The nodes of versions 1 to 4, named by tree and number; of each tree the first is the root.
std::map<TreeNode, int64_t> read_nodes(const SourceNode& node, Forest& forest) {
  const auto tree = node.ints("nodes_treeids"), id = node.ints("nodes_nodeids"),
             feature = node.ints("nodes_featureids"), on_true = node.ints("nodes_truenodeids"),
             on_false = node.ints("nodes_falsenodeids"), missing = node.ints("nodes_missing_value_tracks_true");
  const auto modes = node.texts("nodes_modes");
  const auto thresholds = numbers_of(node, "nodes_values", forest.dtype);
  for (const char* name : {"nodes_hitrates", "nodes_hitrates_as_tensor"}) node.ignore(name);
  const size_t count = modes.size();
  for (const auto* list : {&tree, &id, &feature, &on_true, &on_false})
    require_size(list->size(), count, "a list of nodes");
  require_size(thresholds.size(), count, "`nodes_values`");
  std::map<TreeNode, int64_t> places;
  std::set<int64_t> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(TreeNode{tree[i], id[i]}, static_cast<int64_t>(i)).second)
      fail(Code::kBadAttribute, "node {} of tree {} is there twice", id[i], tree[i]);
    if (seen.insert(tree[i]).second) forest.roots.push_back(static_cast<int64_t>(i));
  }
  const auto place = [&](size_t i, int64_t child) {
    const auto found = places.find({tree[i], child});
    if (found == places.end()) fail(Code::kBadAttribute, "tree {} has no node {}", tree[i], child);
    return found->second;
  };
  for (size_t i = 0; i < count; ++i) {
    SourceTree n{.mode = mode_of(modes[i]), .threshold = thresholds[i]};
    if (n.mode == trees::kMember) fail(Code::kBadAttribute, "BRANCH_MEMBER is a mode of TreeEnsemble only");
    if (n.mode != kLeaf) {
      n.feature = feature[i];
      n.on_true = place(i, on_true[i]);
      n.on_false = place(i, on_false[i]);
      n.missing = i < missing.size() && missing[i] != 0;
    }
    forest.nodes.push_back(n);
  }
  return places;
}

// Weights in the order of their leaves. `stem`: "target" or "class".
void read_weights(const SourceNode& node, Forest& forest, const std::string& stem,
                  const std::map<TreeNode, int64_t>& places) {
  const auto tree = node.ints(stem + "_treeids"), id = node.ints(stem + "_nodeids"), target = node.ints(stem + "_ids");
  const auto weights = numbers_of(node, stem + "_weights", forest.dtype);
  for (const auto* list : {&tree, &id, &target}) require_size(list->size(), weights.size(), "a list of weights");
  std::multimap<int64_t, size_t> by_leaf;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto found = places.find({tree[i], id[i]});
    if (found == places.end()) fail(Code::kBadAttribute, "a weight is for node {} of tree {}", id[i], tree[i]);
    by_leaf.emplace(found->second, i);
  }
  for (size_t leaf = 0; leaf < forest.nodes.size(); ++leaf) {
    SourceTree& n = forest.nodes[leaf];
    if (n.mode != kLeaf) continue;
    n.on_true = static_cast<int64_t>(forest.weights.size());
    const auto [first, last] = by_leaf.equal_range(static_cast<int64_t>(leaf));
    for (auto entry = first; entry != last; ++entry) {
      forest.weights.push_back(weights[entry->second]);
      forest.targets.push_back(target[entry->second]);
    }
    n.on_false = static_cast<int64_t>(forest.weights.size());
  }
}

Forest read_forest(const SourceNode& node, const std::string& stem, int64_t targets) {
  Forest forest{.target_count = targets};
  if (node.input(0)->type.dtype == DType::kF64) forest.dtype = DType::kF64;
  read_weights(node, forest, stem, read_nodes(node, forest));
  return forest;
}

Values import_regressor(const SourceNode& node, Builder& build) {
  Forest forest = read_forest(node, "target", node.integer("n_targets", 1));
  const std::string aggregate = node.text("aggregate_function", "SUM");
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* name = std::ranges::find(kNames, aggregate);
  if (name == std::end(kNames)) fail(Code::kBadAttribute, "`aggregate_function` is `{}`", aggregate);
  forest.aggregate = static_cast<TreeAggregate>(name - kNames);
  const auto base = numbers_of(node, "base_values", forest.dtype);
  Value* scores = scores_of(build, forest, node.input(0))[0];
  if (!base.empty()) scores = build.one(op_add, {scores, numbers(build, base, forest.dtype)});
  // ONNX Runtime, by which these models are made and checked, transforms single scores by PROBIT only.
  const PostTransform transform = post_transform(node);
  const bool plain = forest.target_count == 1 && transform != PostTransform::kProbit;
  scores = cast(build, scores, DType::kF32);
  return {plain ? scores : transformed(build, scores, transform)};
}

// Two classes whose weights all go to one column: that column is the score of the second class.
Values two_classes(Builder& build, Value* labels, Value* scores, const Forest& forest, PostTransform transform) {
  const std::set<int64_t> ids(forest.targets.begin(), forest.targets.end());
  const bool positive = std::ranges::all_of(forest.weights, [](double w) { return w >= 0; });
  const bool one_column = ids.size() == 1;
  Value* last = slice(build, scores, 1, list(build, {1}), list(build, {2}));
  if (ids.contains(1)) {
    Value* label = label_above(build, labels, last, one_column && positive ? 0.5 : 0);
    return {label, transformed(build, scores, transform)};
  }
  Value* first = slice(build, scores, 1, list(build, {0}), list(build, {1}));
  return {label_above(build, labels, first, positive ? 0.5 : 0), two_columns(build, first, positive, transform)};
}

// Whether each leaf has a weight for each target.
bool all_targets_everywhere(const Forest& forest) {
  return std::ranges::all_of(forest.nodes, [&](const SourceTree& n) {
    if (n.mode != kLeaf) return true;
    const std::set<int64_t> own(forest.targets.begin() + n.on_true, forest.targets.begin() + n.on_false);
    return static_cast<int64_t>(own.size()) == forest.target_count;
  });
}

Values import_classifier(const SourceNode& node, Builder& build) {
  Value* labels = labels_of(node, build, "classlabels_int64s", "classlabels_strings");
  const int64_t classes = labels->constant->view.count();
  if (classes < 2) fail(Code::kUnsupportedOperator, "a classifier of {} classes", classes);
  Forest forest = read_forest(node, "class", classes);
  const PostTransform transform = post_transform(node);
  const auto base = numbers_of(node, "base_values", forest.dtype);
  const bool partial = base.empty() && classes > 2 && !all_targets_everywhere(forest);
  const Values made = scores_of(build, forest, node.input(0), partial);
  Value* scores = made[0];
  if (!base.empty()) scores = build.one(op_add, {scores, numbers(build, base, forest.dtype)});
  scores = cast(build, scores, DType::kF32);
  if (classes == 2) return two_classes(build, labels, scores, forest, transform);
  // A class that no tree speaks of has the score 0 and does not win.
  Value* ranked = scores;
  if (partial) {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    ranked = build.one(op_where, {made[1], scores, build.scalar(DType::kF32, kNever)});
  }
  return {best_label(build, labels, ranked), transformed(build, scores, transform)};
}

std::vector<int64_t> whole_numbers(const SourceNode& node, const char* name) {
  DType unused = DType::kNone;
  std::vector<int64_t> list;
  for (const double value : numbers_of(node, name, unused)) list.push_back(static_cast<int64_t>(value));
  return list;
}

// The sets of the nodes that test membership, one after the other, each ended by a NaN.
void read_members(const SourceNode& node, Forest& forest, size_t inner) {
  const auto sets = numbers_of(node, "membership_values", forest.dtype);
  size_t at = 0;
  for (size_t i = 0; i < inner; ++i) {
    SourceTree& n = forest.nodes[i];
    if (n.mode != trees::kMember) continue;
    n.members = static_cast<int64_t>(forest.members.size());
    for (; at < sets.size() && !std::isnan(sets[at]); ++at) forest.members.push_back(sets[at]);
    ++at;
    n.members_end = static_cast<int64_t>(forest.members.size());
  }
}

// Version 5: leaves have numbers of their own, here those behind the inner nodes'.
Forest read_ensemble(const SourceNode& node) {
  Forest forest{.target_count = node.integer("n_targets", 1)};
  forest.aggregate = static_cast<TreeAggregate>(node.integer("aggregate_function", 1));
  const auto modes = whole_numbers(node, "nodes_modes"), feature = node.ints("nodes_featureids"),
             on_true = node.ints("nodes_truenodeids"), on_false = node.ints("nodes_falsenodeids"),
             true_leaf = node.ints("nodes_trueleafs"), false_leaf = node.ints("nodes_falseleafs"),
             missing = node.ints("nodes_missing_value_tracks_true");
  const auto splits = numbers_of(node, "nodes_splits", forest.dtype);
  node.ignore("nodes_hitrates");
  const size_t inner = modes.size();
  for (const auto* list : {&feature, &on_true, &on_false, &true_leaf, &false_leaf})
    require_size(list->size(), inner, "a list of nodes");
  require_size(splits.size(), inner, "`nodes_splits`");
  const auto behind = [&](int64_t place, bool leaf) { return leaf ? place + static_cast<int64_t>(inner) : place; };
  for (size_t i = 0; i < inner; ++i) {
    if (modes[i] < 0 || modes[i] > trees::kMember) fail(Code::kBadAttribute, "`nodes_modes` has {}", modes[i]);
    SourceTree n{.mode = modes[i], .feature = feature[i]};
    n.on_true = behind(on_true[i], true_leaf[i] != 0);
    n.on_false = behind(on_false[i], false_leaf[i] != 0);
    n.missing = i < missing.size() && missing[i] != 0;
    n.threshold = splits[i];
    forest.nodes.push_back(n);
  }
  read_members(node, forest, inner);
  forest.weights = numbers_of(node, "leaf_weights", forest.dtype);
  forest.targets = node.ints("leaf_targetids");
  require_size(forest.targets.size(), forest.weights.size(), "`leaf_targetids`");
  for (int64_t i = 0; i < static_cast<int64_t>(forest.weights.size()); ++i)
    forest.nodes.push_back({.on_true = i, .on_false = i + 1});
  forest.roots = node.ints("tree_roots");
  return forest;
}

Values import_ensemble(const SourceNode& node, Builder& build) {
  const int64_t transform = node.integer("post_transform", 0), aggregate = node.integer("aggregate_function", 1);
  if (transform < 0 || transform > static_cast<int64_t>(PostTransform::kProbit))
    fail(Code::kBadAttribute, "`post_transform` is {}", transform);
  if (aggregate < 0 || aggregate > static_cast<int64_t>(TreeAggregate::kMax))
    fail(Code::kBadAttribute, "`aggregate_function` is {}", aggregate);
  Value* scores = scores_of(build, read_ensemble(node), node.input(0))[0];
  scores = cast(build, scores, node.input(0)->type.dtype);
  return {transformed(build, scores, static_cast<PostTransform>(transform))};
}

constexpr std::string_view kDomain = "ai.onnx.ml";

}  // namespace

MICA_SPELLINGS(trees, {Format::kOnnx, kDomain, "TreeEnsemble", 5, kLatest, import_ensemble},
               {Format::kOnnx, kDomain, "TreeEnsembleClassifier", 1, kLatest, import_classifier},
               {Format::kOnnx, kDomain, "TreeEnsembleRegressor", 1, kLatest, import_regressor});

}  // namespace mica
