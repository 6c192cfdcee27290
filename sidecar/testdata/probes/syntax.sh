echo a
if then
