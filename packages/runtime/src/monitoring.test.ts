import { readFileSync } from 'node:fs';
import { createMetrics } from './metrics.js';
import { readSettings } from './settings.js';

type Dashboard = { panels: { title: string; targets: { expr: string; legendFormat: string }[] }[] };
type Query = { of: string; expr: string; labels: string[] };

const read = (name: string): string => readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');

const NAME = /\b(vat_[a-z_]+?)(?:_bucket|_sum|_count)?\b(?=[{[)\s]|$)/g;
/** Labels of a selector, of `by (…)`, and of a text such as `{{outcome}}` or `{{ $labels.outcome }}`. */
const LABELS = [/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)\s*"/g, /\bby \(([^)]*)\)/g, /\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g];
/** Labels that Prometheus adds, and that of every metric of the service. */
const COMMON = ['job', 'namespace', 'instance', 'service', 'le'];

const labelsOf = (text: string): string[] =>
  LABELS.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(([, found = '']) => found.split(/,\s*/)));

const readAlerts = (): Query[] =>
  read('monitoring/alerts.yml')
    .split(/^ +- alert: /m)
    .slice(1)
    .map((rule) => ({
      ...{ of: /^\w+/.exec(rule)?.[0] ?? '', expr: /^ +expr: (.+)$/m.exec(rule)?.[1] ?? '' },
      labels: labelsOf(rule),
    }));

const readPanels = (): Query[] =>
  (JSON.parse(read('monitoring/dashboard.json')) as Dashboard).panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ of: title, expr, labels: labelsOf(`${expr} ${legendFormat}`) })),
  );

/** The queries by which KEDA scales the workers. */
const readTriggers = (): Query[] =>
  [
    ...read('helm/templates/workers.yaml').matchAll(/query: >-\n((?: {10}.*\n)+)/g),
    ...read('helm/values.yaml').matchAll(/ query: (.+)/g),
  ].map(([, expr = '']) => ({ of: 'trigger', expr, labels: labelsOf(expr) }));

const labelNames = new Map(
  createMetrics('test')
    .registry.getMetricsAsArray()
    .map((metric) => [metric.name, Reflect.get(metric, 'labelNames') as string[]]),
);
const namesIn = (expr: string): string[] => [...expr.matchAll(NAME)].map(([, name = '']) => name);

test.each([
  ['alerts', readAlerts(), 10],
  ['panels', readPanels(), 20],
  ['triggers', readTriggers(), 2],
])('the %s name metrics and labels that exist', (_what, queries, atLeast) => {
  expect(queries.length).toBeGreaterThanOrEqual(atLeast);
  for (const { of, expr, labels } of queries) {
    const names = namesIn(expr);
    expect([of, names.filter((name) => !labelNames.has(name))]).toEqual([of, []]);
    const known = [...COMMON, ...names.flatMap((name) => labelNames.get(name) ?? [])];
    expect([of, labels.filter((label) => !known.includes(label))]).toEqual([of, []]);
  }
});

test('every metric of the service has an alert or a panel', () => {
  const shown = new Set([...readAlerts(), ...readPanels()].flatMap(({ expr }) => namesIn(expr)));
  const ours = [...labelNames.keys()].filter((name) => name.startsWith('vat_'));
  expect(ours.filter((name) => !shown.has(name))).toEqual([]);
});

test('what an alert compares with zero is there before it is first counted', async () => {
  const text = await createMetrics('test').registry.metrics();
  const seriesOf = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}\\{(?:code|outcome)="([^"]+)".*\\} 0$`, 'gm'))].map(
      ([, label = '']) => label,
    );
  expect(seriesOf('vat_mails_total')).toEqual(['sent', 'pending', 'failed']);
  const guide = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const row = /^\| `vat_upstream_alarms_total` .*$/m.exec(guide)?.[0] ?? '';
  const codes = [...row.matchAll(/`([A-Z][A-Z0-9_-]+)`/g)].map(([, code = '']) => code);
  expect([codes.length, seriesOf('vat_upstream_alarms_total').toSorted()]).toEqual([4, codes.toSorted()]);
});

test('the alert about lost jobs leaves out the actions of a sweep for which no job was lost', () => {
  const guide = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const row = /^\| `vat_swept_total` .*$/m.exec(guide)?.[0] ?? '';
  const expected = [...row.matchAll(/`([a-z_]+)`/g)].map(([, action = '']) => action).slice(1);
  const alert = readAlerts().find(({ expr }) => expr.includes('vat_swept_total'))?.expr ?? '';
  expect(expected).toContain('lanes');
  expect(/action!~"([^"]+)"/.exec(alert)?.[1]?.split('|')).toEqual(expected.toSorted());
});

test('what no worker serves, and a fleet without workers, have an alert', () => {
  const alerts = readAlerts().filter(({ expr }) => expr.includes('vat_worker_serves'));
  expect(alerts.map(({ expr }) => expr)).toEqual([
    'max by (role) (vat_worker_serves) == 0',
    'absent(vat_worker_serves)',
  ]);
});

test('the alert about direct checks is reached before a call stops to wait', () => {
  const alert = readAlerts().find(({ expr }) => expr.includes('class="interactive"'))?.expr ?? '';
  const { UPSTREAM_WINDOW: windowMs } = readSettings({}, 'api', ['UPSTREAM_WINDOW']);
  expect(1_000 * Number(/> (\d+)$/.exec(alert)?.[1])).toBeLessThan(0.75 * windowMs);
});

test('a task of maintenance that runs once an hour and keeps failing has an alert', () => {
  const alerts = readAlerts().filter(({ expr }) => expr.includes('{maintenance}'));
  expect(alerts.map(({ expr }) => expr)).toEqual([
    'min_over_time(sum(increase(vat_job_errors_total{queue="{maintenance}"}[75m]))[4h:15m]) > 0',
  ]);
});

test('alerts name queues that workers serve', () => {
  const queues = /\$allQueues := list (.+) }}/.exec(read('helm/templates/workers.yaml'))?.[1] ?? '';
  const named = [...read('monitoring/alerts.yml').matchAll(/serves? `(\w+)`/g)].map(([, name = '']) => name);
  expect(named).toEqual(['webhooks', 'evidence', 'evidence']);
  expect(named.filter((name) => !queues.includes(`"${name}"`))).toEqual([]);
});
