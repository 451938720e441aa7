// Values under the pointer. Without scripts the plots are all there; only this is missing.
for (const figure of document.querySelectorAll("figure.chart")) {
  const { series, unit, end } = JSON.parse(figure.querySelector("script").textContent);
  const out = figure.querySelector("output");
  const digits = v => v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2);
  const nearest = (points, at) =>
    points.reduce((best, p) => Math.abs(p[0] - at) < Math.abs(best[0] - at) ? p : best, points[0]);
  for (const svg of figure.querySelectorAll("svg")) {
    const cursor = svg.querySelector(".cursor"), width = svg.viewBox.baseVal.width;
    const left = +svg.dataset.left, right = +svg.dataset.right;
    svg.addEventListener("pointermove", event => {
      const bounds = svg.getBoundingClientRect();
      const x = Math.min(right, Math.max(left, (event.clientX - bounds.left) / bounds.width * width));
      const at = (x - left) / (right - left) * end;
      const values = series.filter(([, points]) => points.length).map(([name, points]) => {
        const value = nearest(points, at)[1];
        return `${name} ${value === null ? "-" : digits(value)}`;
      });
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
      cursor.style.visibility = "visible";
      out.textContent = `${at.toFixed(1)} s: ${values.join(", ")} ${unit}`;
    });
    svg.addEventListener("pointerleave", () => { cursor.style.visibility = "hidden"; out.textContent = ""; });
  }
}
