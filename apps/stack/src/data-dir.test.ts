import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspectProcess, replaceFile } from '@vat/embedded';
import { claimDataDir, removeStaleLock } from './data-dir.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vat-lock-'));
  file = path.join(folder, 'stack.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file that cannot be replaced leaves no other file behind', () => {
  mkdirSync(path.join(file, 'below'), { recursive: true });
  expect(() => replaceFile(file, 'text')).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(readdirSync(folder)).toEqual(['stack.lock']);
});

test('a stop that cannot be announced, such as on a full disk, goes on', async () => {
  const claim = await claimDataDir(folder, () => undefined);
  mkdirSync(`${file}.${process.pid}`);
  expect(() => claim.recordChildren([])).toThrow();
  claim.announceStop();
  claim.release();
  expect(existsSync(file)).toBe(false);
});

const lockOf = (pid: number, started: string) => JSON.stringify({ pid, started, children: [] });

test('the lock of a process that has ended is removed', () => {
  writeFileSync(file, lockOf(process.pid, 'at another time'));
  removeStaleLock(file);
  expect(readdirSync(folder)).toEqual([]);
  removeStaleLock(file);
  expect(existsSync(file)).toBe(false);
});

test('the lock of another start that has taken over the claim since it was read stays', () => {
  const taken = lockOf(process.pid, inspectProcess(process.pid)?.started ?? '');
  writeFileSync(file, taken);
  removeStaleLock(file);
  expect(readdirSync(folder)).toEqual(['stack.lock']);
  expect(readFileSync(file, 'utf8')).toBe(taken);
});
