// @ts-check
/**
 * @typedef {Record<string, any> & { 'Node Type': string, Plans?: PlanNode[] }} PlanNode a node of EXPLAIN's JSON
 * @typedef {{ buffers?: number, sorted?: number, reason: string }} Allowance
 */

/** A table with fewer rows may be read whole. */
const SMALL_TABLE_ROWS = 2_000;
/** The pages that any statement may read, and those for each row of its page, or that it returns or changes. */
const BUFFERS = { base: 600, perRow: 25 };
/** The rows that any statement may sort. */
const SORTED = 1_000;

/** @param {PlanNode} node @returns {PlanNode[]} */
const nodesOf = (node) => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** @param {PlanNode} node */
const rowsOf = (node) => Math.round(node['Actual Rows'] * node['Actual Loops']);

/**
 * What in a plan grows with the tables, or can end Postgres, a line each.
 *
 * @param {PlanNode} plan executed
 * @param {ReadonlyMap<string, number>} tableRows rows by table or partition
 * @param {ReadonlyMap<string, string>} keys the column by which its table is partitioned, by partition
 * @param {Allowance} [allowed] of a statement that has a reason to read more
 */
export const planFaults = (plan, tableRows, keys, allowed) => {
  const nodes = nodesOf(plan);
  const faults = pruningFaults(plan, keys);
  for (const node of nodes) {
    const type = node['Node Type'];
    const table = node['Relation Name'];
    if (type === 'Seq Scan' && (tableRows.get(table) ?? 0) >= SMALL_TABLE_ROWS && rowsRead(node) > 0)
      faults.push(`reads ${table} row by row`);
    const sorted = type === 'Sort' ? Math.max(...(node.Plans ?? []).map(rowsOf)) : 0;
    if (sorted > (allowed?.sorted ?? SORTED)) faults.push(`sorts ${sorted} rows`);
  }
  const changed = nodes
    .filter((node) => node['Node Type'] === 'ModifyTable')
    .flatMap((node) => (node.Plans ?? []).map(rowsOf));
  const pages = nodes.filter((node) => node['Node Type'] === 'Limit').map(rowsOf);
  const rows = Math.max(rowsOf(plan), ...changed, ...pages);
  const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  const limit = allowed?.buffers ?? BUFFERS.base + BUFFERS.perRow * rows;
  if (buffers > limit) faults.push(`reads ${buffers} pages for ${rows} rows, more than ${limit}`);
  return faults;
};

/** @param {PlanNode} node */
const rowsRead = (node) => rowsOf(node) + (node['Rows Removed by Filter'] ?? 0);

/** Of a scan. Each may compare the key of the partitions. */
const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter'];

/**
 * Whether a node chooses among partitions while the statement runs: by comparing their key with another column or with the
 * result of a subquery, but not with an array.
 *
 * @param {PlanNode} node @param {ReadonlyMap<string, string>} keys
 */
const prunes = (node, keys) =>
  node['Node Type'].endsWith('Append') &&
  nodesOf(node).some((scan) => {
    const key = keys.get(scan['Relation Name']);
    const compared = new RegExp(`\\((?:\\w+\\.)?${key} (?:=|[<>]=?) (?!\\(?'|\\$\\d|ANY )`);
    return key !== undefined && CONDITIONS.some((name) => compared.test(scan[name] ?? ''));
  });

/**
 * Where a statement that locks rows chooses partitions while it runs: in a subquery, or to find the rows that it locks. When such
 * a statement has waited for a lock, Postgres 18 without its fix of October 2026 reads freed memory, or chooses by the id of
 * another row (docs/decisions/0037).
 *
 * @param {PlanNode} plan @param {ReadonlyMap<string, string>} keys
 * @returns {string[]}
 */
const pruningFaults = (plan, keys) => {
  const locks = nodesOf(plan).filter((node) => node['Node Type'] === 'LockRows');
  if (locks.length === 0) return [];
  const subqueries = nodesOf(plan).filter((node) => /Plan$/.test(node['Parent Relationship'] ?? ''));
  const read = new Set([...locks, ...subqueries].flatMap(nodesOf));
  return [...read].filter((node) => prunes(node, keys)).map(() => 'locks rows and chooses partitions while it runs');
};
