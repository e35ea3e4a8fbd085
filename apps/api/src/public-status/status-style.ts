/** The style sheet of the public status page. */
export const STATUS_STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#f6f7f9, #0d1015); --surface: light-dark(#fff, #151920);
  --line: light-dark(#e1e5ea, #2a313c); --text: light-dark(#171c26, #e8ebf1); --soft: light-dark(#566071, #a2acba);
  --accent: light-dark(#3f4fd1, #8f9cff);
  --ok: light-dark(#2a9d6b, #3aa873); --ok-text: light-dark(#0d6b45, #5ccf99); --ok-ground: light-dark(#e2f5ec, #10301f);
  --degraded: light-dark(#dd9a1f, #c98d24); --degraded-text: light-dark(#7a4d00, #eabc62); --degraded-ground: light-dark(#fcf1da, #382a0d);
  --down: light-dark(#d9483d, #d65a4d); --down-text: light-dark(#b3261e, #ff9b8f); --down-ground: light-dark(#fdecea, #3d1916);
  --unknown: light-dark(#d4d9e0, #39414e); --unknown-text: var(--soft); --unknown-ground: light-dark(#eceff3, #252b35); }
* { box-sizing: border-box; margin: 0; padding: 0; }
body { background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; font-variant-numeric: tabular-nums; }
header, main { max-width: 960px; margin: 0 auto; padding: 20px 16px; }
header { display: flex; gap: 10px; align-items: center; font-weight: 600; padding-bottom: 0; }
main { display: grid; gap: 20px; padding-bottom: 48px; }
h1 { font-size: clamp(22px, 4vw, 30px); line-height: 1.2; letter-spacing: -0.02em; }
h2 { font-size: 16px; }
h3 { font-size: 14px; font-weight: 600; }
h3 span { color: var(--soft); font-weight: 400; }
ul { list-style: none; }
a { color: var(--accent); }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 16px; display: grid; gap: 14px; }
.soft { color: var(--soft); }
.small { font-size: 13px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.ok { --fill: var(--ok); --ink: var(--ok-text); --back: var(--ok-ground); }
.degraded { --fill: var(--degraded); --ink: var(--degraded-text); --back: var(--degraded-ground); }
.down { --fill: var(--down); --ink: var(--down-text); --back: var(--down-ground); }
.unknown { --fill: var(--unknown); --ink: var(--unknown-text); --back: var(--unknown-ground); }
.map { display: grid; grid-template: repeat(7, 52px) / repeat(8, minmax(0, 1fr)); gap: 4px; width: 100%; max-width: 640px; margin: 0 auto; }
.tile { display: grid; align-content: center; justify-items: center; border-radius: 8px; background: var(--back); color: var(--ink); line-height: 1.2; }
.tile span { font-size: 11px; }
.tile i { font-style: normal; font-size: 11px; margin-left: 2px; }
.legend { display: flex; flex-wrap: wrap; justify-content: center; gap: 4px 16px; font-size: 13px; color: var(--soft); }
.legend li::before { content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 3px; background: var(--fill); margin-right: 6px; }
.states { display: grid; gap: 12px; }
.states li { display: grid; grid-template-columns: 190px 130px 1fr 120px; gap: 4px 14px; align-items: center; }
.states p { text-align: right; font-size: 13px; color: var(--soft); }
.states svg { width: 100%; height: 26px; border-radius: 5px; background: var(--unknown-ground); }
path { fill: var(--fill); }
.pill { justify-self: start; padding: 1px 9px; border-radius: 99px; font-size: 12px; color: var(--ink); background: var(--back); white-space: nowrap; }
.axis { display: flex; justify-content: space-between; padding: 0 134px 0 348px; }
@media (max-width: 720px) {
  .map { grid-template-rows: repeat(7, 44px); gap: 3px; }
  .tile b { font-size: 13px; }
  .tile span { font-size: 9.5px; }
  .states { gap: 16px; }
  .states li { grid-template-columns: 1fr auto; }
  .states h3 { grid-area: 1 / 1; }
  .states .pill { grid-area: 1 / 2; justify-self: end; }
  .states svg { grid-area: 2 / 1 / 2 / 3; }
  .states p { grid-area: 3 / 1 / 3 / 3; }
  .axis { padding: 0; }
}
`.trim();
