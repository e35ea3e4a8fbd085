import type { ReactNode } from 'react';

/** What stands where there is nothing yet: what will be here, and what to do first. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children && <p className="hint">{children}</p>}
    {action}
  </div>
);
