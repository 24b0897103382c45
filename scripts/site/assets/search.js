// The search: an index in a script, loaded when the field is used first, so that it works without a server.
(() => {
  const { root, language } = document.documentElement.dataset;
  const field = document.getElementById('search');
  const list = document.getElementById('found');
  const said = document.querySelector('.said');
  const most = 30;
  let loading;
  let current = -1;

  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `${root}/assets/search-${name}.js`;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`no index ${name}`));
      document.head.append(script);
    });
  // Chinese readers find the English pages too, after their own.
  const names = language === 'zh' ? ['zh', 'en'] : ['en'];
  const sections = () => {
    loading ??= Promise.all(names.map(load)).then(() =>
      names.flatMap((name, order) =>
        globalThis.halitePages[name].flatMap(([pageTitle, address, parts]) =>
          parts.map(([title, anchor, text]) => ({
            ...{ pageTitle, title, text, order },
            address: `${root}/${address}${anchor === '' ? '' : `#${anchor}`}`,
            isPage: anchor === '',
            lowTitle: title.toLowerCase(),
            lowPage: pageTitle.toLowerCase(),
            lowText: text.toLowerCase(),
          })),
        ),
      ),
    );
    return loading;
  };

  const startsWord = (text, term) => {
    const at = text.indexOf(term);
    return at === 0 || (at > 0 && !/[\p{L}\p{N}]/u.test(text[at - 1]));
  };
  /** 0: it is not found. Every term has to be somewhere. */
  const scoreOf = (section, terms, whole) => {
    let score = 0;
    for (const term of terms) {
      const inTitle = section.lowTitle.includes(term);
      const inPage = section.lowPage.includes(term);
      const inText = section.lowText.includes(term);
      if (!inTitle && !inPage && !inText) return 0;
      if (inTitle) score += startsWord(section.lowTitle, term) ? 30 : 14;
      if (inPage) score += 5;
      if (inText) score += startsWord(section.lowText, term) ? 4 : 2;
    }
    if (section.lowTitle === whole) score += 60;
    else if (section.lowTitle.startsWith(whole)) score += 25;
    else if (section.lowTitle.includes(whole)) score += 12;
    if (section.lowText.includes(whole)) score += 6;
    return score + (section.isPage ? 4 : 0) - section.order * 3 - Math.min(section.title.length, 80) / 40;
  };

  /** The text with what was searched for marked; never as markup. */
  const marked = (tag, text, terms) => {
    const element = document.createElement(tag);
    const low = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const next = terms
        .map((term) => ({ at: low.indexOf(term, at), length: term.length }))
        .filter((hit) => hit.at >= 0)
        .sort((a, b) => a.at - b.at || b.length - a.length)[0];
      if (!next) break;
      element.append(text.slice(at, next.at));
      const mark = document.createElement('mark');
      mark.textContent = text.slice(next.at, next.at + next.length);
      element.append(mark);
      at = next.at + next.length;
    }
    element.append(text.slice(at));
    return element;
  };
  const excerpt = ({ text, lowText }, terms) => {
    const first = Math.min(...terms.map((term) => lowText.indexOf(term)).filter((at) => at >= 0));
    if (!Number.isFinite(first)) return text.slice(0, 150);
    const before = Math.max(0, first - 50);
    const from = before === 0 ? 0 : Math.max(text.lastIndexOf(' ', first - 30) + 1, before - 20);
    return `${from > 0 ? '… ' : ''}${text.slice(from, from + 150)}`;
  };

  const show = (open) => {
    list.hidden = !open;
    field.setAttribute('aria-expanded', String(open));
    if (!open) choose(-1);
  };
  const choose = (index) => {
    const options = [...list.children];
    current = options.length === 0 ? -1 : Math.max(-1, Math.min(index, options.length - 1));
    for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === current));
    if (current < 0) field.removeAttribute('aria-activedescendant');
    else {
      field.setAttribute('aria-activedescendant', options[current].id);
      options[current].scrollIntoView({ block: 'nearest' });
    }
  };
  const option = (section, terms, index) => {
    const item = document.createElement('li');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    const link = document.createElement('a');
    link.href = section.address;
    link.tabIndex = -1;
    link.append(marked('strong', section.title, terms));
    if (!section.isPage) link.append(marked('small', section.pageTitle, terms));
    link.append(marked('span', excerpt(section, terms), terms));
    item.append(link);
    return item;
  };

  const search = async () => {
    const whole = field.value.trim().toLowerCase().replace(/\s+/g, ' ').slice(0, 100);
    if (whole === '') {
      said.textContent = '';
      return show(false);
    }
    const all = await sections();
    if (whole !== field.value.trim().toLowerCase().replace(/\s+/g, ' ').slice(0, 100)) return;
    const terms = [...new Set(whole.split(' '))];
    const hits = all
      .map((section) => ({ section, score: scoreOf(section, terms, whole) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
    list.replaceChildren(...hits.slice(0, most).map(({ section }, index) => option(section, terms, index)));
    said.textContent = hits.length === 0 ? field.dataset.none : `${hits.length} ${said.dataset.results}`;
    said.classList.toggle('nothing', hits.length === 0);
    show(hits.length > 0);
    choose(hits.length > 0 ? 0 : -1);
  };

  field.addEventListener('focus', () => void sections());
  field.addEventListener('input', () => void search());
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose(current + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter' && current >= 0) {
      event.preventDefault();
      list.children[current].firstChild.click();
      show(false);
    } else if (event.key === 'Escape') {
      field.value = '';
      said.textContent = '';
      show(false);
      field.blur();
    }
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search')) show(false);
    else if (event.target.closest('#found a')) show(false);
  });
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '')) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
})();
