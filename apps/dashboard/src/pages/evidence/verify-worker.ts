import { verifyDossier } from '@vat/evidence/verify-dossier';
import type { VerifyMessage } from './verify-card.js';

/** Progress is sent at most this often. */
const INTERVAL_MS = 100;

const send = (message: VerifyMessage) => self.postMessage(message);

/** Runs beside the page: a dossier of 10 000 checks takes seconds. The page sends one file and receives progress and the report. */
self.onmessage = ({ data: file }: MessageEvent<File>) => {
  let sentAt = 0;
  const onProgress: NonNullable<Parameters<typeof verifyDossier>[1]>['onProgress'] = (progress) => {
    if (performance.now() - sentAt < INTERVAL_MS) return;
    sentAt = performance.now();
    send({ progress });
  };
  void verifyDossier(file, { onProgress }).then((report) => send({ report }));
};
