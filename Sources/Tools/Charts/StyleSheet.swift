/// The style sheet of pages. It must not contain `<` or `&`, which XML would parse.
enum StyleSheet {
    static let text = """
        :root { color-scheme: light dark; --paper: #ffffff; --panel: #f6f7f9; --ink: #1c1e21; --faint: #5c6470;
          --grid: #dde1e6; --alarm: #b3261e; --link: #005a9c; --on-full: #ffffff;
          --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #b5568f; --series-5: #b07a00;
          --series-6: #3a9bd9; }
        @media screen and (prefers-color-scheme: dark) {
          :root { --paper: #15171a; --panel: #1e2125; --ink: #e6e8eb; --faint: #a0a8b2; --grid: #33383f;
            --alarm: #ff8a80; --link: #8cc8f5; --on-full: #0c0d0f;
            --series-1: #4ea8e0; --series-2: #f58a42; --series-3: #35c99b; --series-4: #dd93bf; --series-5: #e6b34a;
            --series-6: #9fd6f7; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
        main { max-width: 1120px; margin: 0 auto; padding: 1.5rem 16px 4rem; overflow-wrap: anywhere; }
        h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.75rem; }
        h2 { font-size: 1.15rem; line-height: 1.3; margin: 2.25rem 0 0.25rem; }
        h3 { font-size: 1rem; line-height: 1.3; margin: 1.5rem 0 0.25rem; }
        p { margin: 0.25rem 0 0.9rem; max-width: 46rem; }
        p.lead { font-size: 1.05rem; }
        a { color: var(--link); }
        a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid var(--link);
          outline-offset: 2px; }
        figure { margin: 0; }
        code { font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
        details { margin: 0.5rem 0 1rem; }
        summary { cursor: pointer; padding: 0.25rem 0; }
        .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(236px, 1fr)); gap: 0.5rem 1.25rem; }
        .grid.pairs { grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); }

        .chart { font-size: 12px; line-height: 15px; margin: 0.35rem 0 0.6rem; }
        .chart .head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.1em; margin-bottom: 8px; }
        .chart .head strong { font-size: 13px; }
        .chart .y-title, .chart .x-title { color: var(--faint); }
        .chart .x-title { text-align: center; }
        .chart .key { display: inline-flex; align-items: center; gap: 5px; }
        .chart .sample { width: 20px; height: 12px; flex: none; }
        .frame { position: relative; background: var(--panel); box-shadow: 0 0 0 1px var(--grid); }
        .frame svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: hidden; }
        .chart svg * { vector-effect: non-scaling-stroke; }
        .chart svg line, .chart svg polyline { stroke-width: 1.5; }
        .chart svg .grid { stroke: var(--grid); stroke-width: 1; }
        .chart svg .dot { fill: none; stroke-width: 7; stroke-linecap: round; }
        .frame span { position: absolute; white-space: nowrap; }
        .frame .x { top: calc(100% + 8px); transform: translateX(-50%); color: var(--faint); }
        .frame .y { right: calc(100% + 6px); transform: translateY(-50%); color: var(--faint); }
        .frame .right { left: calc(100% + 6px); transform: translateY(-50%); }
        .frame .label { pointer-events: none; text-shadow: 0 0 2px var(--panel), 0 0 2px var(--panel),
          0 0 3px var(--panel), 0 0 4px var(--panel), 0 0 5px var(--panel); }
        .frame .label.none { transform: translate(-50%, -50%); color: var(--faint); }
        .frame.timed { cursor: crosshair; }
        .playhead { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: var(--alarm);
          pointer-events: none; }
        .chart.strip { margin: 0 0 0.35rem; }
        .chart.strip .head { margin-bottom: 8px; }

        table { border-collapse: collapse; margin: 0.5rem 0 1rem; font-size: 14px; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: 0.3rem 18px 0.3rem 0; border-bottom: 1px solid var(--grid);
          vertical-align: top; }
        th:last-child, td:last-child { padding-right: 0; }
        th { color: var(--faint); font-weight: 600; vertical-align: bottom; overflow-wrap: normal; }
        th.number, td.number { text-align: right; }
        td.number, td.word { white-space: nowrap; }
        tr.now td { background: var(--panel); box-shadow: inset 0 -2px var(--alarm); }
        td button { font: inherit; color: var(--link); background: none; border: 0; padding: 0 2px; cursor: pointer;
          text-decoration: underline; }

        table.counts { font-size: 12px; line-height: 16px; table-layout: auto; }
        table.counts caption { text-align: left; color: var(--faint); padding-bottom: 0.35rem; }
        table.counts th, table.counts td { padding: 2px; border: 0; text-align: center; vertical-align: middle;
          overflow-wrap: normal; white-space: nowrap; }
        table.counts th { color: var(--ink); font-weight: 400; }
        table.counts tbody th, table.counts thead td { text-align: right; padding-right: 8px; }
        table.counts thead td { color: var(--faint); vertical-align: bottom; white-space: normal; width: 6em; }
        table.counts th.turned { vertical-align: bottom; }
        table.counts th.turned span { writing-mode: vertical-rl; transform: rotate(180deg); }
        table.counts tbody td { width: var(--cell); min-width: var(--cell); height: 22px; border: 1px solid var(--paper);
          background: color-mix(in srgb, var(--series-1) var(--share, 0%), var(--panel)); }
        table.counts td.on-full { color: var(--on-full); }
        table.counts td.zero { color: var(--faint); }
        ul.counts { margin: 0.5rem 0 1rem; padding: 0; list-style: none; font-size: 14px; }
        ul.counts li { padding: 0.15rem 0; border-bottom: 1px solid var(--grid); }

        ul.findings { list-style: none; margin: 0.5rem 0 1rem; padding: 0; max-width: 46rem; }
        ul.findings li { border-left: 4px solid var(--series-5); background: var(--panel); padding: 0.5rem 0.9rem;
          margin: 0 0 0.5rem; }
        ul.findings li.serious { border-color: var(--alarm); }
        ul.findings li.good { border-color: var(--series-3); }

        .player { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px;
          padding: 6px 16px; background: var(--paper); border-bottom: 1px solid var(--grid); font-size: 13px; }
        .player audio { flex: 0 1 300px; min-width: 0; height: 40px; }
        .player .position { min-width: 4em; font-variant-numeric: tabular-nums; }
        .player .keys { color: var(--faint); }

        @media (max-width: 639.98px) {
          .at:not(.n) { display: none; }
          .player .keys { display: none; }
          \(stacked("stack-n")) }
        @media (min-width: 640px) and (max-width: 999.98px) {
          .at:not(.m) { display: none; }
          \(stacked("stack-m")) }
        @media (min-width: 1000px) {
          .at:not(.w) { display: none; }
          \(stacked("stack-w")) }
        @media print {
          @page { margin: 14mm 12mm; }
          :root { --panel: #ffffff; }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          main { padding: 0; }
          .player { display: none; }
          .chart, tr, li, figcaption { break-inside: avoid; }
          h2, figcaption, thead { break-after: avoid; }
          a { color: inherit; } }

        """

    /// A table whose rows are blocks, with the head of its column before each cell.
    private static func stacked(_ name: String) -> String {
        """
        table.\(name), .\(name) tbody, .\(name) tr, .\(name) td { display: block; width: 100%; }
          .\(name) thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .\(name) tr { padding: 0.4rem 0; border-bottom: 1px solid var(--grid); }
          .\(name) td { display: grid; grid-template-columns: minmax(7.5rem, 38%) minmax(0, 1fr); gap: 0 0.75rem; border: 0;
            padding: 0.1rem 0; text-align: left; white-space: normal; }
          .\(name) td.number { display: inline-block; width: auto; padding-right: 1rem; }
          .\(name) td::before { content: attr(data-head) " "; color: var(--faint); }
          .\(name) td:first-child { display: block; font-weight: 600; }
          .\(name) td:first-child::before { content: none; }
          .\(name) td:empty { display: none; }
        """
    }
}
