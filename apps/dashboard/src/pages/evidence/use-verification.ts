import type { DossierProgress, DossierReport } from '@vat/evidence/verify-dossier';
import { useEffect, useRef, useState } from 'react';

/** What the worker sends. */
export type VerifyMessage = { progress: DossierProgress } | { report: DossierReport };

/** The state of the verification of one file. */
export type Verification =
  | { state: 'idle' }
  | { state: 'running'; fileName: string; progress: DossierProgress | null }
  | { state: 'done'; fileName: string; report: DossierReport }
  | { state: 'failed'; fileName: string };

/** Verifies files in a worker, one at a time. Leaving the page, `stop` and another file end a running verification. */
export const useVerification = () => {
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
