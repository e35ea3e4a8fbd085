import { readdirSync, readFileSync } from 'node:fs';
import { OPERATIONS } from '@vat/contracts';
import { MEMBER_STATES, WAIT_CLASSES } from '@vat/domain';
import { readSettings, SECRET_SETTINGS, SETTINGS, startProbeServer } from '@vat/runtime';
import { rolesOf, statesOf } from './settings.js';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);
const quoted = (text: string): string[] => found(text, /"(\w+)"/g);
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

const CHART = 'deploy/helm';
const values = read(`${CHART}/values.yaml`);
const { properties } = JSON.parse(read(`${CHART}/values.schema.json`));
const TEMPLATES = readdirSync(new URL(`../../../${CHART}/templates`, import.meta.url)).map((file) =>
  read(`${CHART}/templates/${file}`),
);
const template = (name: string): string => read(`${CHART}/templates/${name}.yaml`);
const SET = TEMPLATES.flatMap((text) => found(text, /- name: ([A-Z][A-Z0-9_]*)$/gm));

const REQUIRED = { DATABASE_URL: 'postgres://postgres/vat', REDIS_URL: 'redis://redis', SECRET_KEY: 'a'.repeat(16) };

test('the chart is of this release', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(found(read(`${CHART}/Chart.yaml`), /^(?:appVersion|version): (.+)$/gm)).toEqual([version, version]);
});

test('everything that the chart passes to a process is a setting, and each secret can be in its Secret', () => {
  const known = [...Object.keys(SETTINGS), ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
  const examples = found(values, /^#? {2}([A-Z][A-Z0-9_]+): /gm);
  expect(SET.length).toBeGreaterThanOrEqual(8);
  expect(examples.length).toBeGreaterThanOrEqual(3);
  expect([...SET, ...examples].filter((name) => !known.includes(name))).toEqual([]);
  expect(sorted(properties.secret.properties.keys.items.enum)).toEqual(sorted(SECRET_SETTINGS));
  // Those that an operator may replace, or that are no settings of all processes, are not refused.
  const replaceable = ['BASE_URL', 'DATABASE_URL_FILE'];
  expect(sorted(properties.settings.propertyNames.not.enum)).toEqual(
    sorted([...SECRET_SETTINGS, ...SET.filter((name) => !replaceable.includes(name))]),
  );
});

test('workers name the service as the API does, since their mails lead there', () => {
  const shared = found(read(`${CHART}/templates/_helpers.tpl`), /- name: ([A-Z_]+)$/gm);
  const both = SETTINGS.BASE_URL.readBy.filter((program) => program === 'api' || program === 'worker');
  expect([shared, both]).toEqual([['BASE_URL'], ['api', 'worker']]);
});

test.each(['api', 'worker'] as const)(
  'the %s gets the files of the secrets that it reads, and no others',
  (program) => {
    const text = template(program === 'api' ? 'api' : 'workers');
    const [list = ''] = found(text, /"secrets" \(list ([^)]+)\)/g);
    const readBy = (name: (typeof SECRET_SETTINGS)[number]): readonly string[] => SETTINGS[name].readBy;
    expect(sorted(quoted(list))).toEqual(sorted(SECRET_SETTINGS.filter((name) => readBy(name).includes(program))));
  },
);

test('its queues, member states and classes are those of the workers', () => {
  const listOf = (name: string): string =>
    found(template('workers'), new RegExp(`\\$${name} := list (.+) }}`, 'g'))
      .flatMap(quoted)
      .join(',');
  const settingsOf = (WORKER_QUEUES: string, WORKER_MEMBER_STATES: string) =>
    readSettings({ ...REQUIRED, WORKER_QUEUES, WORKER_MEMBER_STATES }, 'worker');
  const every = settingsOf('all', 'all');
  const listed = settingsOf(listOf('allQueues'), listOf('allStates'));
  expect([rolesOf(listed), statesOf(listed)]).toEqual([rolesOf(every), statesOf(every)]);
  expect(statesOf(listed)).toEqual([...MEMBER_STATES]);
  const { classes } = properties.workers.items.properties.autoscaling.properties;
  expect(classes.items.enum).toEqual([...WAIT_CLASSES]);
});

test('its commands are those of the compose file', () => {
  const commandsOf = (text: string): string[] =>
    found(text, /^ +command: \[(.*\bnode\b.*)\]$/gm).map((args) => args.replaceAll('"', ''));
  expect(sorted(TEMPLATES.flatMap(commandsOf))).toEqual(sorted(commandsOf(read('docker-compose.yml'))));
});

test('its ports and probes exist', async () => {
  const portOf = (text: string): number[] => found(text, /containerPort: (\d+)/g).map(Number);
  const probesOf = (text: string): string[] => sorted(found(text, /httpGet: \{ path: (\S+), port: \w+ \}/g));
  const [api, workers] = [template('api'), template('workers')];
  expect(portOf(api)).toEqual([readSettings(REQUIRED, 'api').PORT]);
  expect(portOf(workers)).toEqual([readSettings(REQUIRED, 'worker').METRICS_PORT]);
  expect(found(api, /name: PORT\n +value: '(\d+)'/g).map(Number)).toEqual(portOf(api));
  expect(found(workers, /name: METRICS_PORT\n +value: '(\d+)'/g).map(Number)).toEqual(portOf(workers));
  expect([probesOf(api), probesOf(workers)]).toEqual([
    ['/healthz', '/readyz'],
    ['/healthz', '/readyz'],
  ]);
  const metrics = async () => ({ type: 'text/plain', text: '' });
  const server = await startProbeServer(0, '127.0.0.1', { ready: async () => ({ ok: true }), metrics });
  for (const path of [...probesOf(workers), '/metrics'])
    expect([path, (await fetch(`http://127.0.0.1:${server.port}${path}`)).status]).toEqual([path, 200]);
  await server.close();
});

test('every path of the API is published by the Ingress or stays inside', () => {
  const routes = [
    'create-app',
    'public-status/mount-public-status',
    'public-verification/mount-public-verification',
    'unsubscribe/mount-unsubscribe',
  ]
    .map((file) => read(`apps/api/src/${file}.ts`))
    .flatMap((text) => found(text, /(?:\(app, |app\.use\()(?:\/\^\\|')(\/[\w.]+)/g));
  const operations = Object.values(OPERATIONS).map(({ path }) => `/${path.split('/')[1]}`);
  const [paths = ''] = found(values, /^ {2}paths: \[(.+)\]$/gm);
  expect(sorted([...routes, ...operations])).toEqual(
    sorted([...paths.split(', '), '/healthz', '/metrics', '/ops', '/readyz']),
  );
});

test.each(['api', 'worker'])('Kubernetes waits longer for the %s than it takes to stop', (program) => {
  const [deadline] = found(read(`apps/${program}/src/run-${program}.ts`), /const STOP_DEADLINE_MS = ([\d_]+);/g);
  const [grace] = found(
    template(program === 'api' ? 'api' : 'workers'),
    /terminationGracePeriodSeconds: (?:{{ add .Values.api.shutdownDelaySeconds )?(\d+)/g,
  );
  expect(Number(grace) * 1_000).toBeGreaterThan(Number(deadline?.replaceAll('_', '')));
});
