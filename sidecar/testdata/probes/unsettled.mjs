await new Promise(() => {})
export {}
