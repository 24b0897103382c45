// The frame of a page: menu, look, copy buttons, and the heading that is being read.
(() => {
  const page = document.documentElement;
  const menu = document.querySelector('.menu-button');
  const showMenu = (open) => {
    document.body.classList.toggle('menu-open', open);
    menu.setAttribute('aria-expanded', String(open));
  };
  menu.addEventListener('click', () => showMenu(!document.body.classList.contains('menu-open')));
  document.querySelector('main').addEventListener('click', () => showMenu(false));
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') showMenu(false);
  });

  document.querySelector('.theme-button').addEventListener('click', () => {
    const dark = page.dataset.theme
      ? page.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    page.dataset.theme = dark ? 'light' : 'dark';
    try {
      localStorage.setItem('halite-theme', page.dataset.theme);
    } catch {
      // Then it holds for this page only.
    }
  });

  // The navigation is long: the entry of this page is brought into view, without moving the page itself.
  const here = document.querySelector('.pages [aria-current]');
  const pages = document.querySelector('.pages');
  if (here && here.offsetTop > pages.clientHeight - 80) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;

  const { copy, copied } = document.querySelector('article').dataset;
  /** What is typed; prompts and output are not copied. */
  const textOf = (code) => {
    const typed = [...code.querySelectorAll('.typed')].map((line) => line.textContent);
    return typed.length > 0 ? typed.join('\n') : code.textContent;
  };
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = copy;
    button.addEventListener('click', async () => {
      await navigator.clipboard?.writeText(textOf(block.querySelector('code')));
      button.textContent = copied;
      setTimeout(() => {
        button.textContent = copy;
      }, 1500);
    });
    block.append(button);
  }

  const links = new Map(
    [...document.querySelectorAll('.contents a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
  );
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const markCurrent = () => {
    const read = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1) ?? headings[0];
    for (const [id, link] of links) link.classList.toggle('current', id === read?.id);
  };
  let waiting = false;
  addEventListener(
    'scroll',
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        markCurrent();
      });
    },
    { passive: true },
  );
  markCurrent();
})();
