import type { ReactNode } from 'react';

type PageProps = { title: string; children: ReactNode; actions?: ReactNode; above?: ReactNode; lead?: ReactNode };

/** The frame of a page: its one h1, which names the browser's window too, and what can be done here. */
export const Page = ({ title, children, actions, above, lead }: PageProps) => (
  <div className="page">
    <title>{`${title} · VAT Validation Service`}</title>
    {above && <div className="above">{above}</div>}
    <div className="page-head">
      <h1>{title}</h1>
      {actions && <div className="actions">{actions}</div>}
    </div>
    {lead && <div className="lead">{lead}</div>}
    {children}
  </div>
);
