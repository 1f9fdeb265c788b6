#include "../tree_window.hpp"

namespace sash_py {
template std::unique_ptr<AnyTree> make_tree<false>(std::shared_ptr<const Spec>, unsigned, unsigned);
}  // namespace sash_py
