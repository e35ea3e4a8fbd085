/** Stands where something is on its way; appears only when that takes noticeably long. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);
