// Accessibility: a region that scrolls can be reached with the keyboard, and each sidebar has a name.
document.addEventListener("DOMContentLoaded", () => {
  const regions = [...document.querySelectorAll(".content pre, .content .table-wrapper")];
  const update = () => {
    for (const region of regions) {
      if (region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight) region.tabIndex = 0;
    }
  };
  update();
  window.addEventListener("resize", update);
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
});
