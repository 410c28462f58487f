/// The live page's style sheet, in the colours of the reports.
enum LivePageStyle {
    static let text = """
        :root { color-scheme: light dark; --paper: #ffffff; --panel: #f6f7f9; --ink: #1c1e21; --faint: #5c6470;
          --grid: #dde1e6; --track: #e6e9ee; --alarm: #b3261e; --link: #005a9c; --fill: #7fb4d8; --fires: #2f9e6e;
          --wave: #0072b2; --mark: #b3261e; --thumb: #1c1e21; --flash: #d7f0e4; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #15171a; --panel: #1e2125; --ink: #e6e8eb; --faint: #a0a8b2; --grid: #33383f; --track: #2a2f36;
            --alarm: #ff8a80; --link: #8cc8f5; --fill: #2f6f9c; --fires: #2aa877; --wave: #4ea8e0; --mark: #ff8a80;
            --thumb: #f2f4f6; --flash: #17402f; } }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI",
          Roboto, "Noto Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
        header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem;
          padding: 0.6rem max(1rem, calc(50% - 584px)); background: var(--paper); border-bottom: 1px solid var(--grid); }
        h1 { font-size: 1.15rem; margin: 0; }
        h1 span { font-weight: 400; color: var(--faint); margin-left: 0.5rem; overflow-wrap: anywhere; }
        h2 { font-size: 1rem; margin: 0 0 0.6rem; }
        #status { margin: 0; flex: 1 1 auto; display: flex; align-items: center; gap: 0.5rem; min-width: 0; font-size: 0.9rem; }
        #status-text { overflow-wrap: anywhere; }
        #dot { flex: none; width: 0.7rem; height: 0.7rem; border-radius: 50%; background: var(--faint); }
        .good #dot { background: var(--fires); }
        .bad #dot { background: var(--alarm); }
        main { display: grid; gap: 1rem; max-width: 1200px; margin: 0 auto; padding: 1rem; grid-template-columns: minmax(0, 1fr); }
        section { background: var(--panel); border: 1px solid var(--grid); border-radius: 10px; padding: 1rem; min-width: 0; }
        .column { display: contents; }
        #heard-section { order: 1; } #words-section { order: 2; } #access { order: 3; } #misses-section { order: 4; }
        @media (min-width: 900px) {
          main { grid-template-columns: minmax(0, 7fr) minmax(0, 3fr); align-items: start; }
          .column { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
          #words { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 2rem; } }
        .note { color: var(--faint); font-size: 0.875rem; margin: 0 0 0.75rem; }
        a { color: var(--link); }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
        button { font: inherit; font-size: 0.9rem; min-height: 2.25rem; padding: 0.25rem 1rem; border-radius: 8px; cursor: pointer;
          border: 1px solid var(--faint); background: var(--panel); color: var(--ink); }
        button:disabled { cursor: not-allowed; color: var(--faint); border-color: var(--grid); }
        button[aria-pressed="true"] { background: var(--alarm); border-color: var(--alarm); color: var(--paper); }
        input[type="password"] { font: inherit; flex: 1; min-width: 0; min-height: 2.25rem; padding: 0.25rem 0.6rem;
          border-radius: 8px; border: 1px solid var(--faint); background: var(--paper); color: var(--ink); }
        label { font-size: 0.875rem; }
        code { font: 0.85em ui-monospace, "DejaVu Sans Mono", monospace; }
        .row { display: flex; gap: 0.5rem; margin-top: 0.25rem; max-width: 28rem; }
        #message { color: var(--alarm); font-size: 0.9rem; margin: 0; overflow-wrap: anywhere; }
        #message:not(:empty) { margin-top: 0.75rem; }

        .level { display: grid; grid-template-columns: minmax(0, 1fr) 5rem; gap: 0.75rem; align-items: center; }
        .level output { text-align: right; font-size: 0.9rem; }
        .meter { position: relative; height: 0.9rem; border-radius: 4px; background: var(--track); overflow: hidden; }
        .meter i { position: absolute; inset: 0 auto 0 0; width: calc(var(--share, 0) * 100%); background: var(--fill); }
        #level-fill { background: var(--fires); }
        .loud #level-fill { background: var(--alarm); }
        #level-peak { left: calc(var(--share, 0) * 100% - 2px); width: 2px; background: var(--ink); }
        figure { margin: 0.75rem 0 0; }
        figcaption { color: var(--faint); font-size: 0.75rem; margin-bottom: 0.2rem; }
        canvas { display: block; width: 100%; border-radius: 4px; background: var(--paper); border: 1px solid var(--grid); }
        #wave { height: 96px; }
        #mel { height: 160px; }
        .axis { display: flex; justify-content: space-between; color: var(--faint); font-size: 0.75rem; margin-top: 0.2rem; }
        #picture.locked, #no-picture { display: none; }
        #picture.locked + #no-picture { display: block; margin: 0.75rem 0 0; }

        .word { display: grid; grid-template-columns: minmax(6.75rem, 30%) minmax(0, 1fr) 3.75rem; gap: 0.75rem; align-items: center;
          min-height: 2.6rem; }
        .word .name { overflow-wrap: anywhere; line-height: 1.2; }
        .word .name small, .word .score small { display: block; color: var(--faint); font-size: 0.75rem; }
        .word .score { text-align: right; line-height: 1.2; font-size: 0.9rem; }
        .word.special .name { color: var(--faint); }
        .bar { display: block; appearance: none; -webkit-appearance: none; width: 100%; height: 1.5rem; margin: 0; border-radius: 4px;
          background: linear-gradient(to right, var(--fill) calc(var(--score, 0) * 100%), var(--track) 0); }
        .word.fires .bar { --fill: var(--fires); }
        .word.special .bar { height: 0.75rem; }
        input.bar { cursor: ew-resize; }
        input.bar:disabled { cursor: default; opacity: 1; }
        input.bar::-webkit-slider-runnable-track { height: 100%; background: none; }
        input.bar::-moz-range-track { height: 100%; background: none; }
        input.bar::-webkit-slider-thumb { -webkit-appearance: none; width: 8px; height: 1.9rem; margin-top: -0.2rem;
          border-radius: 3px; background: var(--thumb); border: 2px solid var(--panel); }
        input.bar::-moz-range-thumb { width: 4px; height: 1.65rem; border-radius: 3px; background: var(--thumb);
          border: 2px solid var(--panel); }
        input.bar:disabled::-webkit-slider-thumb { background: var(--faint); }
        input.bar:disabled::-moz-range-thumb { background: var(--faint); }

        #heard, #misses { list-style: none; margin: 0; padding: 0; }
        #misses li { display: grid; grid-template-columns: minmax(0, 1fr) auto 2.5rem; gap: 0.5rem; align-items: center;
          padding: 0.2rem 0.4rem; border-bottom: 1px solid var(--grid); min-height: 2.6rem; }
        #misses small { color: var(--faint); font-size: 0.75rem; display: block; }
        #misses span:nth-child(2) { text-align: right; }
        #misses button { padding: 0; min-height: 2.25rem; }
        #misses:not(:empty) + #misses-none { display: none; }
        #heard li:nth-child(n + 7) { display: none; }
        @media (min-width: 900px) { #heard li:nth-child(n) { display: grid; } #heard li:nth-child(n + 13) { display: none; } }
        #heard li { display: grid; grid-template-columns: 4.75rem minmax(0, 1fr) auto; gap: 0.5rem; align-items: baseline;
          padding: 0.35rem 0.4rem; border-bottom: 1px solid var(--grid); border-radius: 4px; }
        #heard time { color: var(--faint); font-size: 0.85rem; }
        #heard b { overflow-wrap: anywhere; }
        #heard .part { font-weight: 400; color: var(--faint); }
        #heard:not(:empty) + #heard-none { display: none; }
        @media (prefers-reduced-motion: no-preference) {
          #heard li.new { animation: flash 1.6s ease-out; }
          @keyframes flash { from { background: var(--flash); } to { background: transparent; } } }
        footer { max-width: 1200px; margin: 0 auto; padding: 0 1rem 2rem; color: var(--faint); font-size: 0.85rem; }
        """
}
