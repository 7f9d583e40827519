(() => {
  const controls = document.getElementById("filter"), rows = [...document.querySelectorAll("#requirements tbody tr")];
  const [text, verdict, differences, shown] = ["text", "verdict", "differences", "shown"].map((id) => document.getElementById(id));
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = (!wanted || row.textContent.toLowerCase().includes(wanted)) && (!verdict.value || row.querySelector("td." + verdict.value)) && (!differences.checked || row.classList.contains("differs"));
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  // A link can lead to a row that is filtered out: show it.
  const reveal = () => {
    const row = rows.find((one) => one.id === location.hash.slice(1));
    if (row && row.hidden) { text.value = verdict.value = ""; differences.checked = false; filter(); row.scrollIntoView(); }
  };
  controls.hidden = false;
  controls.addEventListener("input", filter);
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
