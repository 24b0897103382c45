// Style sheets are imported for the bundle only.
declare module '*.css';
