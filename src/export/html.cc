// A diagram as one page that needs nothing else.
#include <nlohmann/json.hpp>

#include "export/layout.h"

namespace mica {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; --paper: #fbfbf9; --ink: #22262b; --line: #9aa3ad; --node: #ffffff;
  --edge: #5c6670; --io: #e3efe3; --mark: #ffd24d; --side: #f1f1ed; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191d; --ink: #e4e7ea; --line: #59636e; --node: #22272e;
  --edge: #8d98a4; --io: #24382a; --mark: #8a6a00; --side: #1d2127; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; font: 13px/1.4 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
#view { flex: 1; min-width: 0; cursor: grab; touch-action: none; }
#view.moving { cursor: grabbing; }
aside { width: 340px; padding: 12px; overflow: auto; background: var(--side); border-left: 1px solid var(--line); }
h1 { font-size: 15px; margin: 0 0 8px; overflow-wrap: anywhere; }
input { width: 100%; padding: 6px 8px; font: inherit; color: inherit; background: var(--node);
  border: 1px solid var(--line); border-radius: 4px; }
#found { margin: 6px 0 12px; max-height: 30vh; overflow: auto; }
#found div { padding: 2px 4px; cursor: pointer; overflow-wrap: anywhere; }
#found div:hover, #found div:focus { background: var(--mark); outline: none; }
dl { margin: 0; } dt { font-weight: 600; margin-top: 6px; } dd { margin: 0; overflow-wrap: anywhere;
  font-family: ui-monospace, monospace; font-size: 12px; }
rect { fill: var(--node); stroke: var(--line); rx: 4px; } g.io rect { fill: var(--io); rx: 16px; }
g.box { cursor: pointer; } g.hit rect { stroke: #d09000; stroke-width: 3; } g.chosen rect { fill: var(--mark); }
text { fill: var(--ink); font: 12px system-ui, sans-serif; text-anchor: middle; pointer-events: none; } text.name {
  font-size: 10px; opacity: .75; }
path { fill: none; stroke: var(--edge); stroke-width: 1; opacity: .7; } path.chosen { stroke: #d09000;
  stroke-width: 2.5; opacity: 1; }
p.keys { opacity: .7; font-size: 12px; }
</style></head><body>
<svg id="view" role="img" aria-label="the model as a graph"><defs>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
<path d="M0,0 L8,4 L0,8" style="fill:var(--edge);stroke:none;opacity:1"/></marker></defs><g id="world"></g></svg>
<aside><h1 id="title"></h1>
<input id="search" type="search" placeholder="search: operator, name, type …" aria-label="search">
<div id="found"></div><dl id="facts"></dl>
<p class="keys">drag to move, wheel to zoom, click a box for its facts, 0 shows all, / searches</p></aside>
<script id="data" type="application/json">)html";

constexpr std::string_view kScript = R"html(</script>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const view = document.getElementById('view'), world = document.getElementById('world'),
  facts = document.getElementById('facts'), found = document.getElementById('found'),
  search = document.getElementById('search');
const NS = 'http://www.w3.org/2000/svg';
const make = (tag, attributes, parent) => { const e = document.createElementNS(NS, tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]); parent.appendChild(e); return e; };
const short = (text, n) => [...text].length > n ? [...text].slice(0, n - 1).join('') + '…' : text;
let scale = 1, dx = 0, dy = 0;
const place = () => world.setAttribute('transform', `translate(${dx},${dy}) scale(${scale})`);
const arrows = data.arrows.map(a => {
  const f = data.boxes[a.from], t = data.boxes[a.to], x1 = f.x + f.w / 2, y1 = f.y + f.h, x2 = t.x + t.w / 2,
    y2 = t.y, m = Math.max(16, Math.abs(y2 - y1) / 2);
  const p = make('path', { d: `M${x1},${y1} C${x1},${y1 + m} ${x2},${y2 - m} ${x2},${y2}`,
    'marker-end': 'url(#tip)' }, world);
  make('title', {}, p).textContent = `${a.value} ${a.type}`;
  return p;
});
const boxes = data.boxes.map((b, i) => {
  const g = make('g', { class: 'box' + (b.kind === 'node' ? '' : ' io') }, world);
  make('rect', { x: b.x, y: b.y, width: b.w, height: b.h }, g);
  make('text', { x: b.x + b.w / 2, y: b.y + (b.name ? 15 : 22) }, g).textContent = short(b.op, 34);
  if (b.name) make('text', { class: 'name', x: b.x + b.w / 2, y: b.y + 29 }, g).textContent = short(b.name, 34);
  g.addEventListener('click', () => { if (!moved) choose(i, false); });
  return g;
});
const list = rows => { facts.textContent = ''; for (const [what, value] of rows) {
  const dt = document.createElement('dt'), dd = document.createElement('dd'); dt.textContent = what;
  dd.textContent = value; facts.append(dt, dd); } };
const choose = (i, centre) => {
  boxes.forEach((g, k) => g.classList.toggle('chosen', k === i));
  data.arrows.forEach((a, k) => arrows[k].classList.toggle('chosen', a.from === i || a.to === i));
  const b = data.boxes[i];
  list([['operator', b.op], ...(b.name ? [['name', b.name]] : []), ...(b.group ? [['in', b.group]] : []), ...b.facts,
    ...data.arrows.filter(a => a.to === i).map(a => ['from ' + data.boxes[a.from].op, `${a.value} ${a.type}`]),
    ...data.arrows.filter(a => a.from === i).map(a => ['to ' + data.boxes[a.to].op, `${a.value} ${a.type}`])]);
  if (centre) { scale = Math.max(scale, .8); dx = view.clientWidth / 2 - (b.x + b.w / 2) * scale;
    dy = view.clientHeight / 2 - (b.y + b.h / 2) * scale; place(); }
};
const fit = () => {
  const w = Math.max(1, ...data.boxes.map(b => b.x + b.w)), h = Math.max(1, ...data.boxes.map(b => b.y + b.h));
  scale = Math.min(1.5, view.clientWidth / (w + 40), view.clientHeight / (h + 40));
  dx = (view.clientWidth - w * scale) / 2; dy = (view.clientHeight - h * scale) / 2; place();
};
const zoom = (factor, x, y) => { const s = Math.min(8, Math.max(.01, scale * factor));
  dx = x - (x - dx) * s / scale; dy = y - (y - dy) * s / scale; scale = s; place(); };
view.addEventListener('wheel', e => { e.preventDefault(); const r = view.getBoundingClientRect();
  zoom(Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), e.clientX - r.left, e.clientY - r.top); }, {
  passive: false });
let moved = false;
const touches = new Map();
const spread = () => { const [a, b] = [...touches.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
view.addEventListener('pointerdown', e => { touches.set(e.pointerId, { x: e.clientX, y: e.clientY }); moved = false;
  });
view.addEventListener('pointermove', e => {
  const last = touches.get(e.pointerId);
  if (!last) return;
  const before = touches.size === 2 ? spread() : 0;
  const step = [e.clientX - last.x, e.clientY - last.y];
  if (Math.abs(step[0]) + Math.abs(step[1]) > 2) { moved = true; view.classList.add('moving'); }
  touches.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (before) { const r = view.getBoundingClientRect(), [a, b] = [...touches.values()]; zoom(spread() / before,
    (a.x + b.x) / 2 - r.left, (a.y + b.y) / 2 - r.top); }
  else { dx += step[0]; dy += step[1]; place(); }
});
for (const end of ['pointerup', 'pointercancel', 'pointerleave']) view.addEventListener(end, e => {
  touches.delete(e.pointerId); view.classList.remove('moving'); });
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.textContent = '';
  let shown = 0;
  data.boxes.forEach((b, i) => {
    const text = [b.op, b.name, b.group, ...b.facts.map(f => f.join(' '))].join(' ').toLowerCase();
    const hit = words.length > 0 && words.every(w => text.includes(w));
    boxes[i].classList.toggle('hit', hit);
    if (!hit || ++shown > 200) return;
    const d = document.createElement('div');
    d.tabIndex = 0;
    d.textContent = b.op + (b.name ? ' · ' + b.name : '');
    d.onclick = () => choose(i, true);
    d.onkeydown = e => { if (e.key === 'Enter') choose(i, true); };
    found.append(d);
  });
});
search.addEventListener('keydown', e => { if (e.key === 'Enter' && found.firstChild) found.firstChild.click(); });
addEventListener('keydown', e => { if (e.target === search) return; if (e.key === '0') fit(); if (e.key === '/') {
  e.preventDefault(); search.focus(); } });
document.title = data.title; document.getElementById('title').textContent = data.title;
list(data.facts); fit();
</script></body></html>
)html";

}  // namespace

std::string to_html(const Diagram& diagram) {
  const std::vector<Position> at = layout(diagram);
  Json data = {{"title", diagram.title}, {"facts", diagram.facts}, {"boxes", Json::array()}, {"arrows", Json::array()}};
  for (size_t i = 0; i < diagram.boxes.size(); ++i) {
    const Diagram::Box& box = diagram.boxes[i];
    data["boxes"].push_back({{"op", box.title},
                             {"name", box.name},
                             {"group", box.group},
                             {"kind", box.kind == Diagram::Kind::kNode ? "node" : "io"},
                             {"facts", box.facts},
                             {"x", at[i].x},
                             {"y", at[i].y},
                             {"w", at[i].width},
                             {"h", at[i].height}});
  }
  for (const Diagram::Arrow& arrow : diagram.arrows)
    data["arrows"].push_back({{"from", arrow.from}, {"to", arrow.to}, {"type", arrow.label}, {"value", arrow.value}});
  std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t i = json.find("</"); i != std::string::npos; i = json.find("</", i + 3))
    json.replace(i, 2, "<\\/");  // no text may end the script
  return std::string(kHead) + json + std::string(kScript);
}

}  // namespace mica
