// What a page that is open does against WCAG 2.2 AA: contrast, names of controls, targets, headings, ids.
() => {
  const problems = [];
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const brief = (element) => element.outerHTML.slice(0, 80);

  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parseColor = (color) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = color;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const blend = (top, under) => [0, 1, 2].map((i) => (top[i] * top[3] + under[i] * (255 - top[3])) / 255).concat(255);
  const findBackground = (element) =>
    element ? blend(parseColor(getComputedStyle(element).backgroundColor), findBackground(element.parentElement)) : [255, 255, 255, 255];
  const luminance = (color) =>
    color.slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);

  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data.trim()).join("");
    if (!text || !isShown(element) || element.closest(":disabled, [aria-disabled=true]")) continue;
    const style = getComputedStyle(element);
    const background = findBackground(element);
    const [light, dark] = [luminance(blend(parseColor(style.color), background)), luminance(background)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }

  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=button], [tabindex='0']";
  for (const element of [...document.querySelectorAll(controls)].filter(isShown)) {
    const labels = [...(element.labels ?? [])].map((label) => label.innerText.trim()).join("");
    if (!(element.ariaLabel || element.innerText?.trim() || labels || element.title)) problems.push(`no name: ${brief(element)}`);
    const { width, height } = element.getBoundingClientRect();
    const isInText = element.matches("a, summary") || labels;
    if (!isInText && Math.min(width, height) < 24) problems.push(`target below 24 pixels: ${brief(element)}`);
  }

  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => problems.push(`id twice: ${id}`));
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      element.getAttribute(name).split(" ").filter((id) => !document.getElementById(id)).forEach((id) => problems.push(`${name} of nothing: ${id}`));
    }
  }
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one first heading");
  if (document.querySelectorAll("main").length !== 1) problems.push("not one main landmark");
  if (!document.documentElement.lang) problems.push("no language");
  if (document.documentElement.scrollWidth > innerWidth) problems.push("wider than the window");
  return problems;
}
