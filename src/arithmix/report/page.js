// Draws a figure when it comes into view, in the colours of the moment; switches tabs;
// marks tables that go on beyond their frame.
const templates = JSON.parse(document.getElementById("templates").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const config = { responsive: true, displaylogo: false, displayModeBar: false };

// Heads of many columns stand upright, and legends are small.
function narrow({ xaxis, legend, margin }) {
  if (xaxis?.tickangle === 0 && xaxis.type !== "log") xaxis.tickangle = -90;
  if (xaxis?.side === "top") margin.t = 38;
  if (legend) Object.assign(legend, { font: { size: 9.5 }, itemwidth: 30, tracegroupgap: 0 });
}

function draw(box) {
  const figure = JSON.parse(document.getElementById(box.dataset.figure).textContent);
  figure.layout.template = templates[dark.matches ? "dark" : "light"];
  if (box.clientWidth < 480) narrow(figure.layout);
  return Plotly.react(box, figure.data, figure.layout, config);
}

const watcher = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      draw(target).then(() => target.classList.add("drawn"));
    }
  },
  { rootMargin: "300px" },
);
document.querySelectorAll(".chart").forEach((box) => watcher.observe(box));
dark.addEventListener("change", () => document.querySelectorAll(".chart.drawn").forEach(draw));

function select(tab) {
  for (const other of tab.parentElement.children) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

// The lists of tabs that a tab is in, its own first.
function around(tab) {
  const found = [];
  for (let box = tab.closest(".tabs"); box; box = box.parentElement.closest(".tabs")) found.push(box);
  return found;
}

// What is chosen inside one tab stays chosen inside its siblings, where they have it.
function choose(tab) {
  select(tab);
  const outside = around(tab);
  for (const twin of outside.at(-1).querySelectorAll("[role=tab]")) {
    const same = twin !== tab && twin.textContent === tab.textContent;
    if (same && around(twin).length === outside.length) select(twin);
  }
  // The window may have changed its width while these figures were hidden.
  document.querySelectorAll(".chart.drawn").forEach((box) => {
    if (box.offsetParent) Plotly.Plots.resize(box);
  });
}

// Tells the page's style in which directions a table goes on.
function mark(scroll) {
  const { clientWidth, clientHeight, scrollWidth, scrollHeight, scrollLeft, scrollTop } = scroll;
  const marks = scroll.parentElement.classList;
  marks.toggle("wide", scrollWidth > clientWidth + 1);
  marks.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 1);
  marks.toggle("more-below", scrollTop + clientHeight < scrollHeight - 1);
}

const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => mark(target)));
document.querySelectorAll(".scroll").forEach((scroll) => {
  sizes.observe(scroll);
  scroll.addEventListener("scroll", () => mark(scroll), { passive: true });
});

document.addEventListener("click", ({ target }) => {
  if (target.getAttribute("role") === "tab") choose(target);
});
document.addEventListener("keydown", ({ target, key }) => {
  const side = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[key];
  if (!side || target.getAttribute("role") !== "tab" || !target[side]) return;
  choose(target[side]);
  target[side].focus();
});
