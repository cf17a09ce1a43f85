// Runs the bodies of the fuzz targets on a fixed series of mutations of real answers.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/bodies.h"

namespace lie {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> kSeeds = {
      "\\frac{1}{2}\nso \\boxed{0.5}",
      "x^2+2x+1\n(x+1)^{2}",
      "[0,1) \\cup (2,\\infty)\nx \\ge 0",
      "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}\n\\left[\\begin{array}{cc}1&2\\\\3&4\\end{array}"
      "\\right]",
      "\\sum_{k=1}^{10} k^2\n385",
      "\\int_0^1 x^2 dx\n\\frac13",
      "1,000,000\n10^6",
      "50\\%\n0.5 percent",
      "\\{x \\mid -2 \\leq x < 1\\}\n[-2,1)",
      "x = 1 \\pm \\sqrt{2}\n1+\\sqrt2, 1-\\sqrt2",
      "204_5\n54",
      "\\text{Alice and Bob}\nBob, Alice",
      "|x-1| < 3\n-2 < x < 4",
      "\\binom{16}{2}\n{16 \\choose 2}",
      "\\sqrt[3]{-8}\n-2",
      "2^{2^{2^{2}}}\n65536",
      "30^\\circ\n\\frac{\\pi}{6}",
      "\\lim_{x\\to 0^+} f(x)\nf'(0)",
      "\\lim_{n\\to\\infty} (1+\\frac{1}{n})^n\ne",
      "\\frac{d}{dx} x^2\\sin x\n2x\\sin x+x^2\\cos x",
      "\\int_0^{\\pi} \\sin^2 x dx\n\\frac{\\pi}{2}",
      "\\sum_{n=1}^{\\infty} \\frac{n}{2^n}\n2",
      "\\int 2x dx\nx^2+C",
      "x=2k\\pi, k\\in\\mathbb{Z}\nx=2n\\pi \\text{ where } n \\text{ is an integer}",
      "\\begin{cases}x&x>0\\\\-x&x\\le0\\end{cases}\n"
      "\\begin{cases}-x,&\\text{if }x\\le0\\\\x,&\\text{otherwise}\\end{cases}",
      "]-\\infty,1]\\cup[2,3[\n(-\\infty,1]\\cup[2,3)",
      "\\int_0^1\\int_0^1\\int_0^y x dx dx dy\n\\frac12",
      "\\sum_{k=1}^{n}\\sum_{j=1}^{k} j\n\\frac{n(n+1)(n+2)}{6}",
      "\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}"
      "\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}\n\\det\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}",
      "P(X=2)=\\frac13\n0.333\\ldots",
      "x\\equiv3\\pmod7\nx \\equiv 3 (\\text{mod } 7)"};
  return kSeeds;
}

std::string mutated(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {
      "{",
      "}",
      "\\",
      "^",
      "_",
      "(",
      ")",
      "[",
      "]",
      "|",
      ",",
      "$",
      "\\frac",
      "\\left",
      "\\right",
      "\\boxed{",
      "9999999999",
      "!",
      "\\begin{",
      "&",
      "\\\\",
      "\\text{",
      "\xff",
      "∞",
      "e",
      "%",
      "\\pm",
      "0.",
      "\\overline{",
      "\\int_0^1 \\int_0^1 \\int_0^1 ",
      " dx dx dx",
      "\\sum_{k=1}^{n} \\sum_{k=1}^{n} ",
      "\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}"};
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::string text = seeds()[pick(seeds().size())];
  for (std::size_t changes = 1 + pick(6); changes > 0; --changes) {
    const std::size_t at = pick(text.size() + 1);
    switch (random() % 4) {
      case 0: text.insert(at, kPieces[pick(kPieces.size())]); break;
      case 1: text.erase(at, 1 + pick(4)); break;
      case 2: text.insert(at, text.substr(pick(text.size() + 1), pick(12))); break;
      default: text.append(seeds()[pick(seeds().size())].substr(0, pick(20)));
    }
  }
  return text;
}

TEST(Fuzz, MutatedAnswersKeepAllInvariants) {
  std::mt19937 random(20260211);
  for (int i = 0; i < 80'000; ++i) {
    const std::string text = mutated(random);
    fuzz::extract_body(text);
    fuzz::parse_body(text);
    fuzz::verify_body(text);
  }
}

}  // namespace
}  // namespace lie
