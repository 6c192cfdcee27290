export const y = ;
import "x"
