#include "tools/forecast/forecast_page.h"

#include <fmt/format.h>

namespace lie {
namespace {

constexpr double kLeft = 170, kWidth = 460, kRowHeight = 34;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

/// Returns a row of the picture: a dot at the accuracy and a line over its interval.
std::string row_of(int number, const std::string& label, const Estimate& accuracy) {
  const auto x = [](double share) { return kLeft + kWidth * share; };
  const double y = kRowHeight * (number + 0.5);
  return fmt::format(
      R"(<text x="0" y="{y1:.1f}">{label}</text>
<line x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"/>
<circle cx="{at:.1f}" cy="{y:.1f}" r="4"/>
<text x="{right:.1f}" y="{y1:.1f}">{value:.3f}</text>
)",
      fmt::arg("label", label), fmt::arg("y", y), fmt::arg("y1", y + 4),
      fmt::arg("low", x(accuracy.low)), fmt::arg("high", x(accuracy.high)),
      fmt::arg("at", x(accuracy.value)), fmt::arg("right", kLeft + kWidth + 15),
      fmt::arg("value", accuracy.value));
}

}  // namespace

std::string forecast_page(const Forecast& forecast, std::string_view name) {
  int rows = 0;
  std::string picture = row_of(rows++, "natural length", forecast.accuracy);
  for (const LengthGain& gain : forecast.gains) {
    picture += row_of(rows++, fmt::format("at least {} tokens", gain.tokens), gain.accuracy);
  }
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Forecast of {name}</title>
<style>
body {{ font: 15px sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }}
svg {{ width: 100%; }} svg text {{ font-size: 13px; }}
line {{ stroke: #36c; stroke-width: 2; }} circle {{ fill: #36c; }}
pre {{ white-space: pre-wrap; }}
</style></head><body>
<h1>Forecast of {name}</h1>
<p><strong>{advice}.</strong></p>
<h2>Accuracy by length, with 95 % intervals over prompts</h2>
<svg viewBox="0 0 700 {height:.0f}" role="img" aria-label="Accuracy by length">
{picture}</svg>
<pre>{text}</pre>
</body></html>
)",
      fmt::arg("name", escaped(name)), fmt::arg("advice", escaped(outcome_text(forecast))),
      fmt::arg("height", kRowHeight * rows), fmt::arg("picture", picture),
      fmt::arg("text", escaped(forecast_text(forecast))));
}

}  // namespace lie
