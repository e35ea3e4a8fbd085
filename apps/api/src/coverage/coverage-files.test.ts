import { type Coverage, type CoverageLine, newUuid } from '@vat/domain';
import { coverageFiles } from './coverage-files.js';

test('a coverage that is deleted while its dossier is written ends the dossier instead of leaving lines out', async () => {
  const coverage: Coverage = {
    ...{ id: newUuid(), label: null, fileName: 'a.csv', maxAgeDays: 30, minGrade: 'basic', total: 1 },
    ...{ covered: 0, stale: 0, weak: 0, invalid: 0, missing: 1, batchId: null, createdAt: new Date() },
  };
  const line: CoverageLine = {
    ...{ id: newUuid(), line: 2, status: 'missing', input: 'DE1', vatNumber: null, supplyDate: '2026-01-01' },
    ...{ reference: null, check: null, error: null },
  };
  const files = coverageFiles({
    listLines: async () => [line],
    findHead: async () => ({ fileName: 'a.csv', header: ['number'], width: 1, total: 1 }),
    // It was there when the head was read.
    readResults: async () => [],
    baseUrl: () => 'https://vat.example.com',
  });
  const paths: string[] = [];
  const read = async () => {
    for await (const { path } of files(coverage, newUuid(), new Date())) paths.push(path);
  };
  await expect(read()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(paths).toEqual(['coverage/report.pdf']);
});
