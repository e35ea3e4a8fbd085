// @ts-check

/**
 * Import cycles, each as a shortest chain of files that leads back to its first one. Every file that lies on a cycle is
 * in at least one of the chains; a cycle is not told again from each of its files.
 *
 * @param {ReadonlyMap<string, readonly string[]>} graph file → files that it imports
 * @returns {string[][]} e.g. `[['a.ts', 'b.ts', 'a.ts']]`
 */
export const findCycles = (graph) => {
  /** @type {string[][]} */
  const cycles = [];
  /** @type {Set<string>} */
  const reported = new Set();
  for (const file of graph.keys()) {
    if (reported.has(file)) continue;
    const cycle = shortestWayBack(graph, file);
    if (!cycle) continue;
    for (const each of cycle) reported.add(each);
    cycles.push(cycle);
  }
  return cycles;
};

/**
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @param {string} start
 * @returns {string[] | null}
 */
const shortestWayBack = (graph, start) => {
  /** @type {Map<string, string>} file → the file that led to it */
  const cameFrom = new Map();
  const queue = [start];
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return [...wayTo(cameFrom, start, file), start];
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
};

/** @param {Map<string, string>} cameFrom @param {string} start @param {string} end */
const wayTo = (cameFrom, start, end) => {
  const way = [end];
  for (let file = end; file !== start; ) {
    file = /** @type {string} */ (cameFrom.get(file));
    way.unshift(file);
  }
  return way;
};
