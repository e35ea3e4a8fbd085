import type { DossierProgress, DossierReport } from '@vat/evidence/verify-dossier';
import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '../../parts/button.js';
import { DropZone } from '../../parts/drop-zone.js';
import { count } from '../../parts/format.js';
import { Progress } from '../../parts/progress.js';
import { Card } from '../../parts/text.js';
import { VerifyResult } from './verify-result.js';

/** What the worker sends. */
export type VerifyMessage = { progress: DossierProgress } | { report: DossierReport };

/** The state of the verification of one file. */
type Verification =
  | { state: 'idle' }
  | { state: 'running'; fileName: string; progress: DossierProgress | null }
  | { state: 'done'; fileName: string; report: DossierReport }
  | { state: 'failed'; fileName: string };

/** Verifies files in a worker, one at a time. Leaving the page, `stop` and another file end a running verification. */
const useVerification = () => {
  const [verification, setVerification] = useState<Verification>({ state: 'idle' });
  const worker = useRef<Worker | null>(null);
  const end = () => {
    worker.current?.terminate();
    worker.current = null;
  };
  useEffect(() => () => worker.current?.terminate(), []);
  const start = (file: File) => {
    end();
    const fileName = file.name;
    const running = new Worker(new URL('./verify-worker.ts', import.meta.url), { type: 'module' });
    worker.current = running;
    setVerification({ state: 'running', fileName, progress: null });
    running.onmessage = ({ data }: MessageEvent<VerifyMessage>) => {
      if ('progress' in data) return setVerification({ state: 'running', fileName, progress: data.progress });
      end();
      setVerification({ state: 'done', fileName, report: data.report });
    };
    running.onerror = () => {
      end();
      setVerification({ state: 'failed', fileName });
    };
    running.postMessage(file);
  };
  const stop = () => {
    end();
    setVerification({ state: 'idle' });
  };
  return { verification, start, stop };
};

const ChooseDossier = ({ onFile }: { onFile: (file: File) => void }) => {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const choose = (file: File | undefined) => {
    if (file) onFile(file);
    // Otherwise choosing the same file again would not be a change.
    if (input.current) input.current.value = '';
  };
  return (
    <DropZone onDrop={choose}>
      <label htmlFor={id}>Dossier (zip file)</label>
      <input
        ref={input}
        id={id}
        type="file"
        accept=".zip,application/zip"
        onChange={(event) => choose(event.target.files?.[0])}
      />
      <p className="hint">Drop a dossier here or choose it. It stays on this computer: nothing is uploaded.</p>
    </DropZone>
  );
};

const STEPS: Record<DossierProgress['step'], string> = {
  files: 'files read',
  records: 'steps: records, anchors and proofs compared',
  'time-stamps': 'time-stamps verified',
};

const progressText = (progress: DossierProgress | null): string =>
  progress === null
    ? 'Opening the file'
    : `${count(progress.done)} of ${count(progress.total)} ${STEPS[progress.step]}`;

/** Verifies a dossier in the browser. */
export const VerifyCard = () => {
  const { verification, start, stop } = useVerification();
  return (
    <Card
      title="Verify a dossier"
      hint="Verifies hashes, proofs, the chain of anchors, time-stamps and coverage in this browser, independently of verify.py, which is in the dossier."
    >
      <ChooseDossier onFile={start} />
      {verification.state === 'running' && (
        <>
          <Progress
            label={`Verifying ${verification.fileName}`}
            percentage={verification.progress && (100 * verification.progress.done) / verification.progress.total}
            text={progressText(verification.progress)}
          />
          <div className="actions">
            <Button variant="quiet" onPress={stop}>
              Cancel
            </Button>
          </div>
        </>
      )}
      {verification.state === 'failed' && (
        <div role="alert" className="error-alert">
          <p>
            <strong>{verification.fileName} was not verified.</strong> This browser ended the verification, usually
            because it ran out of memory. Close other tabs and try again, or use verify.py.
          </p>
        </div>
      )}
      {verification.state === 'done' && <VerifyResult fileName={verification.fileName} report={verification.report} />}
    </Card>
  );
};
