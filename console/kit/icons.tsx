// Icons as paths on a grid of 20: drawn here, so that nothing is loaded.
const paths = {
  overview: 'M3 3h6v8H3zM11 3h6v5h-6zM11 10h6v7h-6zM3 13h6v4H3z',
  minions: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  keys: 'M12.5 3a4.5 4.5 0 1 1-3.2 7.7L4 16v1h3v-2h2v-2l2-1.5M13.5 6.5h.01',
  run: 'M5 3.5 16 10 5 16.5z',
  jobs: 'M3 5h2M3 10h2M3 15h2M8 5h9M8 10h9M8 15h9',
  states: 'M3 3h4v4H3zM8 8h4v4H8zM13 13h4v4h-4zM13 3h4v4h-4zM3 13h4v4H3z',
  schedules: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zM10 6v4.5l3 2',
  runners: 'M4 3v14M4 6h8a3 3 0 0 1 3 3v2M12 9l3 3 3-3',
  events: 'M2 10h4l2-6 4 12 2-6h4',
  metrics: 'M3 17V3M3 17h14M6 13l4-5 3 3 4-6',
  doctor: 'M10 3v14M3 10h14',
  masters: 'M10 2l7 4v8l-7 4-7-4V6zM10 10l7-4M10 10v8M10 10L3 6',
  tokens: 'M10 2l7 3v5c0 4-3 7-7 8-4-1-7-4-7-8V5zM7 10l2 2 4-4',
  settings: 'M4 6h6M14 6h2M4 14h2M10 14h6M10 4h4v4h-4zM6 12h4v4H6z',
  search: 'M9 3a6 6 0 1 1 0 12A6 6 0 0 1 9 3zM13.5 13.5 18 18',
  menu: 'M3 5h14M3 10h14M3 15h14',
  help: 'M7 7.5a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7M10 15h.01',
  sun: 'M10 6a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 1v2M10 17v2M1 10h2M17 10h2M3.6 3.6 5 5M15 15l1.4 1.4M3.6 16.4 5 15M15 5l1.4-1.4',
  moon: 'M16.5 12.5A7 7 0 0 1 7.5 3.5 7 7 0 1 0 16.5 12.5z',
  user: 'M10 3a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM3.5 17c.5-3 3-5 6.5-5s6 2 6.5 5',
  out: 'M12 4V3H4v14h8v-1M9 10h9M15 7l3 3-3 3',
  copy: 'M7 7h10v10H7zM4 13H3V3h10v1',
  check: 'M4 10l4 4 8-9',
  close: 'M5 5l10 10M15 5 5 15',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.500h.01',
  empty: 'M3 11l2-7h10l2 7v5H3zM3 11h4l1 2h4l1-2h4',
  right: 'M8 5l5 5-5 5',
  down: 'M5 8l5 5 5-5',
  stop: 'M5 5h10v10H5z',
  pause: 'M7 4v12M13 4v12',
  again: 'M16 5v4h-4M15.5 9a6 6 0 1 0 .5 4',
  export: 'M10 3v9M6.5 8.5 10 12l3.5-3.500M3 16h14',
  star: 'M10 3l2 4.5 5 .5-3.8 3.300L14.5 16 10 13.5 5.5 16l1.3-4.700L3 8l5-.5z',
  filter: 'M3 4h14l-5 6v6l-4-2v-4z',
  language: 'M2 5h9M6.5 3v2M9.5 5c-.8 4-3.5 6.5-7 8M4 8c1 2.5 3.5 4.5 6 5M11 17l3.5-9L18 17M12.2 14h4.6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path class="logo-top" d="M16 2 28 9 16 16 4 9z" />
      <path class="logo-left" d="M4 9 16 16v14L4 23z" />
      <path class="logo-right" d="M28 9 16 16v14l12-7z" />
    </svg>
  );
}
