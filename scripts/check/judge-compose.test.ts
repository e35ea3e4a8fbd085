import { judgeCompose } from './judge-compose.mjs';

const compose = (...names: string[]) =>
  ['services:', '  api:', '    environment:', ...names.map((name) => `      ${name}:`), '      POSTGRES_DB: vat'].join(
    '\n',
  );

test('a compose file that hands on every setting holds', () => {
  expect(judgeCompose(compose('PORT', 'VIES_URL'), ['PORT', 'VIES_URL', 'WORKERS'])).toEqual([]);
});

test('a setting that is left out, and a name that is no setting, are told', () => {
  expect(judgeCompose(compose('PORT', 'VIES_URI'), ['PORT', 'VIES_URL'])).toEqual([
    'docker-compose.yml does not hand on VIES_URL',
    'docker-compose.yml hands on VIES_URI, which is no setting',
  ]);
});
