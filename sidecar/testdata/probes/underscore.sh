echo "$_"
