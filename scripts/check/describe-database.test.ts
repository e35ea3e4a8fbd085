import { compareColumns } from './describe-database.mjs';

const CATALOGUE = {
  types: new Map([
    [1, 'text'],
    [2, 'int4[]'],
  ]),
  nullable: new Map([['7 2', 'watch.label']]),
};
const field = (name: string, dataTypeID: number, columnID = 0) => ({ name, dataTypeID, tableID: 7, columnID });

test.each([
  ['the declared columns', { id: 'text', n: 'int4[]' }, [field('id', 1), field('n', 2)], []],
  [
    'another name',
    { id: 'text' },
    [field('ID', 1)],
    ['column id is not in the result', 'column ID (text) is not declared'],
  ],
  ['another type', { id: 'uuid' }, [field('id', 1)], ['column id is text, not uuid']],
  ['a typed column', { kind: { type: 'jsonb' } }, [field('kind', 1)], ['column kind is text, not jsonb']],
  [
    'a column that may be null',
    { label: 'text' },
    [field('label', 1, 2)],
    ['column label may be null in watch.label: declare text? or text!'],
  ],
  ['a null that is declared', { label: 'text?' }, [field('label', 1, 2)], []],
  ['a null that the statement excludes', { label: 'text!' }, [field('label', 1, 2)], []],
  ['a mark without effect', { id: 'text!' }, [field('id', 1, 1)], ['column id needs no "!"']],
] as const)('compares the columns of a statement: %s', (_what, columns, fields, faults) => {
  expect(compareColumns(CATALOGUE, columns, fields)).toEqual(faults);
});
