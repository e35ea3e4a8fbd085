import type { ReactNode } from 'react';

/** The frame of the pages before one is signed in. */
export const Gate = ({ title, children }: { title: string; children: ReactNode }) => (
  <main className="gate">
    <title>{`${title} · VAT Validation Service`}</title>
    <div className="gate-card">
      <div className="brand">
        <img src="/app/icon.svg" alt="" width="28" height="28" />
        <span>VAT Validation Service</span>
      </div>
      <h1>{title}</h1>
      {children}
    </div>
  </main>
);
