// The spelling of operators; used by diagnostics.
#include "compiler/syntax/ast.h"

#include <array>

namespace tc::ast {
namespace {
constexpr std::array<std::string_view, 13> kBinOps = {"+",  "-",  "*", "@", "/", "%", "**",
                                                      "<<", ">>", "|", "^", "&", "//"};
constexpr std::array<std::string_view, 4> kUnaryOps = {"~", "not", "+", "-"};
constexpr std::array<std::string_view, 10> kCmpOps = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
}  // namespace

std::string_view symbol(BinOp op) { return kBinOps[static_cast<size_t>(op)]; }
std::string_view symbol(UnaryOp op) { return kUnaryOps[static_cast<size_t>(op)]; }
std::string_view symbol(CmpOp op) { return kCmpOps[static_cast<size_t>(op)]; }

}  // namespace tc::ast
