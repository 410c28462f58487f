/// The style sheet of pages. It must not contain `<` or `&`, which XML would parse.
enum StyleSheet {
    static let text = """
        :root { color-scheme: light dark; --paper: #ffffff; --panel: #f6f7f9; --ink: #1c1e21; --faint: #5c6470;
          --grid: #dde1e6; --alarm: #b3261e; --on-full: #ffffff;
          --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #b5568f; --series-5: #b07a00;
          --series-6: #3a9bd9; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #15171a; --panel: #1e2125; --ink: #e6e8eb; --faint: #a0a8b2; --grid: #33383f;
            --alarm: #ff8a80; --on-full: #0c0d0f;
            --series-1: #4ea8e0; --series-2: #f58a42; --series-3: #35c99b; --series-4: #dd93bf; --series-5: #e6b34a;
            --series-6: #9fd6f7; } }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
        main { max-width: 1040px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
        h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
        h2 { font-size: 1.15rem; margin: 2rem 0 0.25rem; }
        p { margin: 0.25rem 0 0.75rem; max-width: 46rem; }
        figure { margin: 0; }
        .scroll { overflow-x: auto; }
        .chart { display: block; width: 100%; height: auto; font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; }
        .chart text { fill: var(--ink); }
        .chart text.faint { fill: var(--faint); }
        .chart text.label { paint-order: stroke; stroke: var(--panel); stroke-width: 3px; stroke-linejoin: round; }
        .chart text.small { font-size: 10px; }
        .chart text.on-full { fill: var(--on-full); }
        .chart line, .chart polyline { stroke-width: 1.5; }
        .chart .plot, .chart .cell { stroke: var(--grid); }
        .chart .plot { fill: var(--panel); }
        .chart .grid { stroke: var(--grid); stroke-width: 1; }
        table { border-collapse: collapse; margin: 0.5rem 0 1rem; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: 0.3rem 1.1rem 0.3rem 0; border-bottom: 1px solid var(--grid);
          vertical-align: top; }
        th { color: var(--faint); font-weight: 600; }
        td:first-child { white-space: nowrap; }
        .number { text-align: right; }
        ul.findings { list-style: none; margin: 0.5rem 0 1rem; padding: 0; max-width: 46rem; }
        ul.findings li { border-left: 4px solid var(--series-5); background: var(--panel); padding: 0.5rem 0.9rem;
          margin: 0 0 0.5rem; }
        ul.findings li.serious { border-color: var(--alarm); }
        ul.findings li.good { border-color: var(--series-3); }
        @media print { :root { --paper: #ffffff; --panel: #ffffff; } }

        """
}
