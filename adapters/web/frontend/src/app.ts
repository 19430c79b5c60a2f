// What every page needs: htmx for parts of pages.
import "htmx.org";
