import { readFileSync } from 'node:fs';
import { checkCompose } from './check-compose.mjs';

const compose = (...names: string[]) =>
  ['services:', '  api:', '    environment:', ...names.map((name) => `      ${name}:`), '      POSTGRES_DB: vat'].join(
    '\n',
  );

test('a compose file that passes on every setting is accepted', () => {
  expect(checkCompose(compose('PORT', 'VIES_URL'), ['PORT', 'VIES_URL', 'WORKERS'])).toEqual([]);
});

test('a setting that is missing and a name that is not a setting are reported', () => {
  expect(checkCompose(compose('PORT', 'VIES_URI'), ['PORT', 'VIES_URL'])).toEqual([
    'docker-compose.yml does not pass on VIES_URL',
    'docker-compose.yml passes on VIES_URI, which is not a setting',
  ]);
});

/** A compose file with one more line below a service. */
const withLine = (line: string) => `services:\n  postgres:\n    ${line}\n`;

test.each([
  [`image: "x"\n    environment:\n      POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:?set it}`, []],
  [`image: "redis://:\${REDIS_PASSWORD:?set it}@redis:6379/0"`, []],
  [
    `environment:\n      POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:-vat}`,
    [`docker-compose.yml does not require POSTGRES_PASSWORD: write \${POSTGRES_PASSWORD:?…}`],
  ],
  [
    `environment:\n      POSTGRES_PASSWORD: vat`,
    ['docker-compose.yml contains a plain-text password (POSTGRES_PASSWORD)'],
  ],
  [
    `image: postgresql://vat:vat@postgres:5432/vat`,
    ['docker-compose.yml contains a plain-text password (postgresql://vat:)'],
  ],
  [
    `command: redis-server --requirepass \${REDIS_PASSWORD:?set it}`,
    ['docker-compose.yml passes REDIS_PASSWORD as a command argument, which every user can read'],
  ],
])('every secret is required and not readable by others: %j', (line, problems) => {
  expect(checkCompose(withLine(line), [])).toEqual(problems);
});

test.each([
  [`\${BIND_ADDRESS:-127.0.0.1}:\${PORT:-3000}:3000`, true],
  ['127.0.0.1:3000:3000', true],
  [`\${PORT:-3000}:3000`, false],
  ['0.0.0.0:3000:3000', false],
  ['3000', false],
])('a port is published on the loopback address by default: %s', (port, accepted) => {
  const problem = `docker-compose.yml publishes ${port} on every interface: begin it with \${BIND_ADDRESS:-127.0.0.1}`;
  expect(checkCompose(withLine(`ports:\n      - "${port}"`), [])).toEqual(accepted ? [] : [problem]);
});

test('every service of docker-compose.yml limits its log, of which Docker keeps all by default', () => {
  const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const [shared = '', services = ''] = text.split(/^(?:services|volumes):\n/m);
  expect(shared).toMatch(
    /^ {2}logging: &logging\n {4}driver: json-file\n {4}options: \{ max-size: \w+, max-file: "\d+" \}$/m,
  );
  const limits = services
    .split(/^ {2}(?=\w+:\n)/m)
    .slice(1)
    .map((service) => [service.split(':')[0], /^ {4}(?:<<: \*service|logging: \*logging)$/m.test(service)]);
  expect(limits).toEqual(['postgres', 'redis', 'migrate', 'api', 'worker'].map((name) => [name, true]));
});
