// The report's style sheet.
#pragma once

namespace lie::analyze {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --page:#f6f6f4; --card:#ffffff; --ink:#1d1d1f; --soft:#6b6b70; --rule:#e4e4e0;
  --good:#1a7f4b; --bad:#b3372f; --mark:#fff3c4;
  --s1:#2f6fde; --s2:#e0662f; --s3:#1f9d6b; --s4:#9a4fd0; --s5:#c93f6b; --s6:#8f7a12; --s7:#1793a8; --s8:#6b7280; }
@media (prefers-color-scheme: dark) {
  :root { --page:#151517; --card:#1f1f22; --ink:#ececee; --soft:#9a9aa2; --rule:#34343a;
  --good:#4cc38a; --bad:#ef7d74; --mark:#4a3f12;
  --s1:#6ea3ff; --s2:#ff9460; --s3:#4fd09a; --s4:#c58bf2; --s5:#f57ea3; --s6:#d6bc46; --s7:#54c7da; --s8:#a3a9b5; } }
.c1{--c:var(--s1)} .c2{--c:var(--s2)} .c3{--c:var(--s3)} .c4{--c:var(--s4)}
.c5{--c:var(--s5)} .c6{--c:var(--s6)} .c7{--c:var(--s7)} .c8{--c:var(--s8)}
* { box-sizing: border-box; }
body { margin:0; background:var(--page); color:var(--ink); font:15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width:1420px; margin:0 auto; padding:28px 24px 60px; }
h1 { font-size:26px; margin:0 0 4px; letter-spacing:-.01em; }
h2 { font-size:18px; margin:38px 0 4px; letter-spacing:-.01em; }
h2 { scroll-margin-top:54px; }
h2 + p { margin:0 0 12px; color:var(--soft); max-width:90ch; }
.lead { color:var(--soft); margin:0 0 18px; max-width:100ch; }
nav { position:sticky; top:0; z-index:2; background:var(--page); border-bottom:1px solid var(--rule); margin:0 -24px; padding:9px 24px; display:flex; flex-wrap:wrap; gap:4px 20px; font-size:14px; }
nav a { color:var(--soft); text-decoration:none; margin-left:auto; } nav a + a { margin-left:0; }
.legend { display:flex; flex-wrap:wrap; gap:2px 14px; font-size:12px; color:var(--soft); padding:0 2px 2px; }
.legend span, nav span { display:inline-flex; align-items:center; gap:6px; }
i { width:14px; height:3px; border-radius:2px; background:var(--c); display:inline-block; }
i.dashed { background:repeating-linear-gradient(90deg, var(--c) 0 4px, transparent 4px 7px); }
td i, nav i { width:12px; height:12px; border-radius:3px; flex:none; }
.grid3 { display:grid; grid-template-columns:repeat(auto-fill, minmax(380px, 1fr)); gap:14px; }
figure, article, .panel { margin:0; background:var(--card); border:1px solid var(--rule); border-radius:10px; padding:12px 12px 6px; min-width:0; }
figcaption { display:flex; justify-content:space-between; gap:10px; align-items:baseline; padding:0 2px 4px; }
figcaption b { font-weight:600; white-space:nowrap; } figcaption small { color:var(--soft); text-align:right; font-size:12px; line-height:1.3; }
svg { width:100%; height:auto; display:block; }
.grid { stroke:var(--rule); stroke-width:1; } .axis { stroke:var(--soft); stroke-width:1; opacity:.6; }
.tick, .label { fill:var(--soft); font-size:11px; font-variant-numeric:tabular-nums; }
.line { fill:none; stroke:var(--c); stroke-width:2; stroke-linejoin:round; stroke-linecap:round; }
.line.dashed { stroke-dasharray:5 4; stroke-width:1.6; }
.band { fill:var(--c); opacity:.16; } .area .band { opacity:.72; stroke:var(--card); stroke-width:.6; }
.dot { fill:var(--c); } .scatter { fill:var(--c); opacity:.4; } .hint { fill:transparent; } .hint:hover { fill:var(--c); opacity:.55; }
.panel { padding:4px 14px; overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-size:14px; font-variant-numeric:tabular-nums; }
th, td { text-align:left; padding:7px 14px 7px 0; border-bottom:1px solid var(--rule); vertical-align:top; }
tr:last-child td { border-bottom:0; } th { font-weight:600; color:var(--soft); font-size:12.5px; }
td.number, th.number { text-align:right; white-space:nowrap; } td small { color:var(--soft); display:block; font-size:12px; }
td .from { color:var(--soft); } tr.differs td { background:var(--mark); } tr.differs td:first-child { box-shadow:inset 3px 0 0 var(--s2); padding-left:10px; }
code, pre { font-family:ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; font-size:12.5px; }
details { margin-top:10px; } summary { cursor:pointer; color:var(--soft); }
.cards { display:grid; grid-template-columns:repeat(auto-fill, minmax(430px, 1fr)); gap:14px; }
article header { display:flex; gap:8px; align-items:baseline; color:var(--soft); font-size:13px; } article header b { color:var(--ink); }
.verdict { margin-left:auto; font-weight:600; } .verdict.good { color:var(--good); } .verdict.bad { color:var(--bad); }
pre { white-space:pre-wrap; overflow-wrap:anywhere; max-height:300px; overflow-y:auto; background:var(--page); border-radius:7px; padding:9px 11px; margin:8px 0; }
pre.prompt { color:var(--soft); max-height:120px; margin-bottom:0; }
article p { margin:6px 0; display:flex; flex-wrap:wrap; gap:5px; }
.chip { background:var(--page); border-radius:6px; padding:1px 8px; font-size:12.5px; color:var(--soft); } .chip b { color:var(--ink); font-weight:600; } .chip.bad { color:var(--bad); }
h3 { font-size:15px; margin:18px 0 8px; display:flex; gap:8px; align-items:center; } h3 i { width:12px; height:12px; border-radius:3px; }
.notes { color:var(--soft); font-size:13px; margin:8px 0 0; padding-left:18px; }
@media (max-width:560px) { .grid3, .cards { grid-template-columns:1fr; } main { padding:18px 12px 40px; } nav { margin:0 -12px; padding:8px 12px; } }
@media print { nav { position:static; } figure, article { break-inside:avoid; } }
)css";

}  // namespace lie::analyze
