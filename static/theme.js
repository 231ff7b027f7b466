// Loaded before the first paint, so that a stored choice never flashes the other theme.
try {
  const theme = localStorage.getItem("assay:theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the system's preference decides.
}
