// Before anything is drawn: the look that the reader chose.
(() => {
  try {
    const theme = localStorage.getItem('halite-theme');
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {
    // Browsers may refuse storage to files; then the system decides.
  }
})();
