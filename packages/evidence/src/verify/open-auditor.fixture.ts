import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provideAuditorTools, type RunTool, unpackDossier } from '@vat/testkit';
import type { DossierOptions } from '../dossier/dossier-source.js';
import { sampleCoverage } from '../dossier/sample-coverage.fixture.js';
import { sampleSource } from '../dossier/sample-source.fixture.js';
import { writeDossier } from '../dossier/write-dossier.js';
import { type OpensslAuthority, openOpenssl, type Terms } from '../timestamp/openssl-authority.fixture.js';
import { copyDossier, type Tampered } from './tampered.fixture.js';

/** The authority of a dossier: its certificates and its stamps. */
type Stamps = {
  certificates: readonly string[];
  stamp: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** The stated time of the dossier. */
  createdAt?: Date;
};

/** An unpacked dossier of seven checks, and the programs to verify it. */
type Auditor = {
  run: RunTool;
  authority: OpensslAuthority;
  /** The folder of the unchanged dossier. */
  original: string;
  /** A copy that may be changed; {@link tidy} removes it. */
  tamper: () => Promise<Tampered>;
  /** Another dossier; {@link tidy} removes it. */
  makeDossier: (checks: number, stamps: Stamps) => Promise<string>;
  makeAuthority: (name: string, terms?: Terms) => OpensslAuthority;
  makeFolder: () => Promise<string>;
  tidy: () => Promise<void>;
  close: () => Promise<void>;
};

const makeDossier = async (
  run: RunTool,
  checks: number,
  { certificates, stamp, createdAt = new Date('2024-11-20T14:00:00.000Z') }: Stamps,
): Promise<string> => {
  const source = await sampleSource({ checks, perAnchor: 3, stamp });
  const options: DossierOptions = {
    account: { id: '0195f1e2-0000-7000-8000-000000000001', name: 'Müller & Σία ООД' },
    createdAt,
    choice: { from: null, to: null, vatNumber: null, reference: null },
    coverage: sampleCoverage(),
    certificates: async () => certificates,
    stamp,
  };
  return unpackDossier(run, writeDossier(source, options));
};

/** The certificates and stamps of a {@link OpensslAuthority} for a dossier. */
export const stampsOf = ({ intermediate, root, crossSigned, stamp }: OpensslAuthority): Stamps => ({
  certificates: [intermediate, root, ...(crossSigned === null ? [] : [crossSigned])],
  stamp,
});

/** Opens the programs, an authority and a dossier. */
const openAuditor = async (): Promise<Auditor> => {
  const run = await provideAuditorTools();
  const openssl = await openOpenssl();
  const authority = openssl.makeAuthority('Trusty');
  const original = await makeDossier(run, 7, stampsOf(authority));
  const opened: (() => Promise<void>)[] = [];
  const tidied = (folder: string) => {
    opened.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  };
  return {
    run,
    authority,
    original,
    tamper: async () => {
      const copy = await copyDossier(run, original);
      tidied(copy.folder);
      return copy;
    },
    makeDossier: async (checks, stamps) => tidied(await makeDossier(run, checks, stamps)),
    makeAuthority: openssl.makeAuthority,
    makeFolder: async () => tidied(await mkdtemp(path.join(tmpdir(), 'vat-auditor-'))),
    tidy: async () => {
      for (const close of opened.splice(0)) await close();
    },
    close: async () => {
      openssl.close();
      await rm(original, { recursive: true, force: true });
    },
  };
};

/** The auditor of a test file, which is open while its tests run. */
export const auditorOfTests = (): Auditor => {
  // The first test of a clone may have to fetch python3 and openssl.
  jest.setTimeout(90_000);
  const auditor: Partial<Auditor> = {};
  beforeAll(async () => void Object.assign(auditor, await openAuditor()));
  afterEach(() => auditor.tidy?.());
  afterAll(() => auditor.close?.());
  return auditor as Auditor;
};
