// The file below `cachedir` with the key that lets the API fire events of hooks, and nothing else.
export const hookKeyName = '.api_hook_key';
